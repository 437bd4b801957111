import logging
import os
import pathlib

import pytest

TARGET = pathlib.Path(__file__).parents[3] / "target"


@pytest.fixture(scope="session")
def plugins():
    """The directory of compiled passes."""
    folder = pathlib.Path(os.environ.get("PASSHOST_PLUGINS", TARGET / "wasm32-wasip2/plugin"))
    if not (folder / "autofuse.wasm").exists():
        pytest.skip(f"no autofuse.wasm in {folder}: run `make plugins`, or set PASSHOST_PLUGINS")
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """A cache of the tests' own: a rewrite of another day shows nothing."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder / "passhost"


@pytest.fixture
def dynamo(caplog):
    """The backend, on an empty Dynamo, with its log lines kept."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("passhost._engine", reason="the extension passhost._engine is not built")
    import passhost.dynamo

    torch._dynamo.reset()
    torch.manual_seed(0)
    caplog.set_level(logging.INFO, "passhost")
    return passhost.dynamo
