import copy
import pickle

import pytest

from passhost import Access, AsyncClient, AsyncEnvironment, Client, SettingsError, Token

SECRET = "passhost_0123456789abcdef"


@pytest.mark.parametrize(
    ("given", "http", "socket"),
    [
        ("http://127.0.0.1:8731", "http://127.0.0.1:8731", "ws://127.0.0.1:8731/ws"),
        ("http://localhost:8731/", "http://localhost:8731", "ws://localhost:8731/ws"),
        ("ws://127.0.0.1:8731/ws", "http://127.0.0.1:8731", "ws://127.0.0.1:8731/ws"),
        ("wss://host/passes/ws", "https://host/passes", "wss://host/passes/ws"),
        ("https://host/passes", "https://host/passes", "wss://host/passes/ws"),
        (f"https://alice:{SECRET}@host", "https://host", "wss://host/ws"),
        ("http://[::1]:80", "http://[::1]:80", "ws://[::1]:80/ws"),
    ],
)
def test_an_address_is_that_of_http_and_of_the_socket(given, http, socket):
    found = Access.find(given)
    assert (found.http, found.socket) == (http, socket)
    assert (found.token is not None) == (SECRET in given)


def test_the_first_token_there_is_counts(tmp_path, monkeypatch):
    (tmp_path / "given").write_text("of-the-file\n")
    (tmp_path / "named").write_text("of-the-named-file\n")
    monkeypatch.setenv("PASSHOST_URL", "http://alice:of-the-address@127.0.0.1:1")
    monkeypatch.setenv("PASSHOST_TOKEN", "of-the-variable")
    monkeypatch.setenv("PASSHOST_TOKEN_FILE", str(tmp_path / "named"))

    def header(*address, **given):
        return Access.find(*address, **given).token.header

    assert header(token="given", token_file=tmp_path / "given") == "Bearer given"
    assert header(token_file=tmp_path / "given") == "Bearer of-the-file"
    assert header() == "Bearer of-the-address"
    assert header("http://127.0.0.1:1") == "Bearer of-the-variable"
    monkeypatch.delenv("PASSHOST_TOKEN")
    assert header("http://127.0.0.1:1") == "Bearer of-the-named-file"
    monkeypatch.delenv("PASSHOST_TOKEN_FILE")
    assert Access.find("http://127.0.0.1:1").token is None


@pytest.mark.parametrize(
    ("address", "given", "said"),
    [
        (None, {}, "set PASSHOST_URL"),
        ("127.0.0.1:8731", {}, "no scheme or no host"),
        ("ftp://host", {}, "no scheme or no host"),
        ("http://host:port", {}, "no URL"),
        ("http://127.0.0.1", {"token": "two words"}, "one word of printable ASCII"),
        ("http://127.0.0.1", {"token_file": "/nowhere/token"}, "/nowhere/token: No such file"),
        ("http://example.org", {"token": SECRET}, "unencrypted"),
        (f"http://alice:{SECRET}@example.org", {}, "unencrypted"),
        (f"alice:{SECRET}@example.org", {}, "no scheme or no host"),
    ],
)
def test_what_cannot_be_used_is_refused_without_saying_a_token(address, given, said, monkeypatch):
    monkeypatch.delenv("PASSHOST_URL", raising=False)
    with pytest.raises(SettingsError, match=said) as refused:
        Access.find(address, **given)
    assert SECRET not in str(refused.value)


def test_another_machine_gets_a_token_where_it_is_asked_for():
    assert Access.find("http://example.org", token=SECRET, insecure=True).token is not None


def test_no_representation_shows_a_token():
    token = Token(SECRET)
    made = [AsyncClient, Client, AsyncEnvironment]
    shown = [
        token,
        Access.find("http://127.0.0.1", token=SECRET),
        *(make("http://127.0.0.1", token=SECRET) for make in made),
    ]
    assert SECRET not in f"{shown!r} {shown[0]}"
    assert pickle.loads(pickle.dumps(copy.copy(token))).header == token.header
