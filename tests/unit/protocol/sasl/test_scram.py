"""The SCRAM client: the example of the RFC, and invalid server messages."""

from __future__ import annotations

import pytest

from kgroups.config.secret import Secret
from kgroups.config.security import Password
from kgroups.errors import AuthenticationFailed, RemoteProtocolError
from kgroups.protocol.sasl import scram as module
from kgroups.protocol.sasl.scram import scram

NONCE, WHOLE = "rOprNGfwEbeRWgbNEkqO", "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = f"r={WHOLE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
PROOF, SIGNATURE = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@pytest.fixture(autouse=True)
def _standard_nonce(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_nonce", lambda: NONCE)


def test_scram_matches_the_example_of_rfc_7677() -> None:
    dialogue = scram("SCRAM-SHA-256", Password("user", Secret("pencil")))
    assert next(dialogue) == f"n,,n=user,r={NONCE}".encode()
    assert dialogue.send(FIRST.encode()) == f"c=biws,r={WHOLE},p={PROOF}".encode()
    with pytest.raises(StopIteration):
        dialogue.send(f"v={SIGNATURE}".encode())


def test_scram_escapes_equals_and_comma_in_user_name() -> None:
    assert next(scram("SCRAM-SHA-256", Password("a=b,c", Secret("x")))) == f"n,,n=a=3Db=2Cc,r={NONCE}".encode()


@pytest.mark.parametrize(
    ("first", "why"),
    [
        ("", "it is not r="),
        (FIRST.replace("i=4096", "i=+4096"), "it is not r="),
        (FIRST.replace("i=4096", "i=40_96"), "it is not r="),
        (FIRST.replace("i=4096", "i=\uff14\uff10\uff19\uff16"), "it is not r="),
        (FIRST.replace("i=4096", "i=1,i=4096"), "it is not r="),
        (FIRST + ",i=1", "it is not r="),
        (FIRST + ",r=x", "it is not r="),
        (FIRST.replace(",s=", ",x=i=1,s="), "it is not r="),
        ("m=x," + FIRST, "it is not r="),
        (FIRST + "\n", "it is not r="),
        (FIRST.replace("W22ZaJ0SNY7soEsUEjb6gQ==", ""), "it is not r="),
        (FIRST.replace("W22ZaJ0SNY7soEsUEjb6gQ==", "W22ZaJ0SNY7soEsUEjb6g"), "the salt is not base64"),
        (FIRST.replace("W22ZaJ0SNY7soEsUEjb6gQ==", "W22Z"), "the salt is too short"),
        (FIRST.replace(WHOLE, NONCE), "adds nothing to the client's nonce"),
        (FIRST.replace(WHOLE, "x" + WHOLE), "does not continue the client's nonce"),
    ],
)
def test_scram_invalid_first_message_is_rejected(first: str, why: str) -> None:
    dialogue = scram("SCRAM-SHA-256", Password("user", Secret("pencil")))
    next(dialogue)
    with pytest.raises(RemoteProtocolError, match=why):
        dialogue.send(first.encode())


@pytest.mark.parametrize("iterations", ["0", "1", "4095", "1000001", "9" * 19, "0000000001"])
def test_scram_unsafe_iterations_are_rejected(iterations: str) -> None:
    dialogue = scram("SCRAM-SHA-256", Password("user", Secret("pencil")))
    next(dialogue)
    with pytest.raises(AuthenticationFailed, match="iterations of SCRAM; between 4,096 and 1,000,000 are safe"):
        dialogue.send(FIRST.replace("i=4096", f"i={iterations}").encode())


@pytest.mark.parametrize(
    ("final", "why"),
    [
        ("", "is not SCRAM's"),
        (f"x={SIGNATURE}", "is not SCRAM's"),
        (f"v={SIGNATURE},v={SIGNATURE}", "is not SCRAM's"),
        (f"v={SIGNATURE}=", "is not SCRAM's|does not verify"),
        (f"v={SIGNATURE[:-4]}", "does not verify"),
        (f"v={PROOF}", "does not verify"),
        ("e=unknown-user", "the broker reports unknown-user"),
    ],
)
def test_scram_server_without_valid_signature_is_rejected(final: str, why: str) -> None:
    dialogue = scram("SCRAM-SHA-256", Password("user", Secret("pencil")))
    next(dialogue)
    dialogue.send(FIRST.encode())
    with pytest.raises((AuthenticationFailed, RemoteProtocolError), match=why):
        dialogue.send(final.encode())


def test_scram_extensions_are_ignored() -> None:
    dialogue = scram("SCRAM-SHA-256", Password("user", Secret("pencil")))
    next(dialogue)
    assert dialogue.send(f"{FIRST},x=more".encode()).startswith(f"c=biws,r={WHOLE},p=".encode())
