import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(autouse=True)
def nothing_of_the_user(monkeypatch):
    """No server, token or proxy of whoever runs the tests."""
    for name in ("PASSHOST_URL", "PASSHOST_TOKEN", "PASSHOST_TOKEN_FILE", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
