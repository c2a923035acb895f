"""Message order of GSSAPI (RFC 4752) with a stub library; integration tests use the real one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kgroups.config.security import Kerberos
from kgroups.errors import AuthenticationFailed, RemoteProtocolError
from kgroups.protocol.sasl import Dialogue


class GSSError(Exception):
    min_code, maj_code = 1, 2

    def get_all_statuses(self, code: int, is_major: bool) -> list[str]:
        return ["in general"] if is_major else ["Clock skew too great"]


class Context:
    """Complete after the broker's first token; what it wraps is in brackets."""

    asked: dict[str, Any]

    def __init__(self, **asked: Any) -> None:
        Context.asked = asked
        self.complete = False

    def step(self, token: bytes | None = None) -> bytes | None:
        if token == b"bad":
            raise GSSError
        self.complete = token is not None
        return None if token else b"ticket"

    def unwrap(self, message: bytes) -> Any:
        if not message.startswith(b"["):
            raise GSSError
        return SimpleNamespace(message=message.strip(b"[]"))

    def wrap(self, message: bytes, encrypt: bool) -> Any:
        assert not encrypt
        return SimpleNamespace(message=b"[" + message + b"]")


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    flags = SimpleNamespace(mutual_authentication=1, integrity=2, out_of_sequence_detection=4)
    found: dict[str, Any] = {
        "SecurityContext": Context,
        "RequirementFlag": flags,
        "Name": lambda text, kind: text,
        "NameType": SimpleNamespace(hostbased_service=1, kerberos_principal=2),
        "MechType": SimpleNamespace(kerberos="krb5"),
        "Credentials": lambda **wanted: wanted,
    }
    gssapi, raw = ModuleType("gssapi"), ModuleType("gssapi.raw")
    vars(gssapi).update(found)
    vars(raw)["GSSError"] = GSSError
    monkeypatch.setitem(sys.modules, "gssapi", gssapi)
    monkeypatch.setitem(sys.modules, "gssapi.raw", raw)
    monkeypatch.delitem(sys.modules, "kgroups.protocol.sasl.kerberos", raising=False)
    yield
    sys.modules.pop("kgroups.protocol.sasl.kerberos", None)


def begun(**wanted: str) -> Dialogue:
    from kgroups.protocol.sasl.kerberos import kerberos  # with the stub

    dialogue = kerberos(Kerberos("kafka", **wanted), "b1.example")
    assert next(dialogue) == b"ticket"
    return dialogue


def test_kerberos_sends_token_then_declines_security_layer() -> None:
    dialogue = begun(principal="ann@REALM", keytab="/k")
    assert dialogue.send(b"token") == b""
    assert dialogue.send(b"[" + bytes((7, 0, 1, 0)) + b"]") == b"[" + bytes((1, 0, 0, 0)) + b"]"
    with pytest.raises(StopIteration):
        dialogue.send(b"")
    assert Context.asked["name"] == "kafka@b1.example" and Context.asked["flags"] == 7
    assert Context.asked["creds"]["name"] == "ann@REALM"
    assert Context.asked["creds"]["store"]["client_keytab"] == "/k"
    assert Context.asked["creds"]["store"]["ccache"].startswith("MEMORY:")


def test_kerberos_uses_the_configured_or_default_ticket_cache() -> None:
    begun(cache="/tmp/cc")
    assert Context.asked["creds"]["store"] == {"ccache": "/tmp/cc"}
    begun()
    assert Context.asked["creds"]["store"] is None


@pytest.mark.parametrize("offer", [bytes((6, 0, 1, 0)), b"", bytes((1, 0, 0)), bytes(5)])
def test_kerberos_required_security_layer_is_rejected(offer: bytes) -> None:
    dialogue = begun()
    dialogue.send(b"token")
    with pytest.raises(RemoteProtocolError, match="insists on a Kerberos security layer"):
        dialogue.send(b"[" + offer + b"]")


@pytest.mark.parametrize("printed", [(b"bad",), (b"token", b"not wrapped")])
def test_kerberos_library_error_is_reported(printed: tuple[bytes, ...]) -> None:
    dialogue = begun(keytab="/k")
    with pytest.raises(AuthenticationFailed, match=r"^Clock skew too great \(keytab /k\)$"):
        for message in printed:
            dialogue.send(message)


def test_kerberos_without_keytab_suggests_kinit() -> None:
    dialogue = begun()
    with pytest.raises(AuthenticationFailed, match="kinit"):
        dialogue.send(b"bad")
