"""Components that crash, hang, flood, lie or return wrong kernels: answers stay eager's, and no text is raw."""

import os
import pathlib

import pytest

torch = pytest.importorskip("torch")

TARGET = pathlib.Path(__file__).parents[3] / "target/wasm32-wasip2/plugin/examples"
FOLDER = pathlib.Path(os.environ.get("PASSHOST_HOSTILE", TARGET))
#: Cargo leaves a second copy of each, whose name ends in a hash.
COMPONENTS = [path for path in sorted(FOLDER.glob("*.wasm")) if "-" not in path.name]


@pytest.mark.skipif(not COMPONENTS, reason=f"none in {FOLDER}: run `make hostile-plugins`, or set PASSHOST_HOSTILE")
@pytest.mark.parametrize("path", COMPONENTS, ids=lambda path: path.stem)
def test_answers_stay_those_of_eager(dynamo, path, caplog):
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.LayerNorm(64), torch.nn.Softmax(-1))
    compiled = torch.compile(model, backend=dynamo.backend, options={"pass": str(path)})
    with torch.no_grad():
        for rows in (3, 8):
            x = torch.randn(rows, 32)
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-6, atol=1e-6)
    messages = [record.getMessage() for record in caplog.records if record.name == "passhost"]
    assert messages and all(message.isprintable() for message in messages), messages
