"""SASL mechanisms: a correct server accepts them, and no server causes more than a rejection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scramp import ScramMechanism
from scramp.core import Password as ScramPassword
from scramp.core import Username

from kgroups.config.secret import Secret
from kgroups.config.security import Password
from kgroups.errors import AuthenticationFailed, RemoteProtocolError
from kgroups.protocol.apis.sasl_authenticate import SaslAuthenticate
from kgroups.protocol.sasl import Dialogue
from kgroups.protocol.sasl.oauthbearer import oauthbearer
from kgroups.protocol.sasl.plain import plain
from kgroups.protocol.sasl.scram import scram

ascii_names = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=20)
texts = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=20)
FEW = settings(max_examples=25)  # each is 4,096 rounds of a hash, twice


@given(user=texts, password=texts)
def test_plain_message_has_user_and_password_after_nuls(user: str, password: str) -> None:
    dialogue = plain(Password(user, Secret(password)))
    assert next(dialogue).decode().split("\0") == ["", user, password]
    with pytest.raises(StopIteration):
        dialogue.send(b"")


class _As(ScramPassword):  # type: ignore[misc]  # scramp has no types
    """A password as Kafka takes it: as it is."""

    def __init__(self, text: str) -> None:
        self.password = text


@FEW
@given(user=ascii_names, password=texts, mechanism=st.sampled_from(["SCRAM-SHA-256", "SCRAM-SHA-512"]))
def test_scram_is_accepted_for_any_name_and_password(user: str, password: str, mechanism: str) -> None:
    """The server is scramp's, which would prepare names and passwords; Kafka's brokers take them as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scramp.core.Password", _As)
        how = ScramMechanism(mechanism)
        stored = how.make_auth_info(password)
        patch.setattr(Username, "__init__", lambda self, name: setattr(self, "username", name))
        server = how.make_server({user: stored}.get)
        dialogue = scram(mechanism, Password(user, Secret(password)))
        server.set_client_first(next(dialogue).decode())
        server.set_client_final(dialogue.send(server.get_server_first().encode()).decode())
        with pytest.raises(StopIteration):
            dialogue.send(server.get_server_final().encode())


DIALOGUES: dict[str, Callable[[], Dialogue]] = {
    "PLAIN": lambda: plain(Password("ann", Secret("pass-word"))),
    "SCRAM": lambda: scram("SCRAM-SHA-256", Password("ann", Secret("pass-word"))),
    "OAUTHBEARER": lambda: oauthbearer(Secret("to.ken"), {}),
}
likely = st.sampled_from(
    [b"r=", b"s=", b"i=4096", b",", b"v=", b"e=", b"AAAA", b'{"status":', b'"x"}', b"\xff", b"=", b"["]
)
answers = st.lists(likely | st.binary(max_size=8), max_size=12).map(b"".join)


@pytest.mark.parametrize("mechanism", DIALOGUES)
@given(printed=st.lists(answers, max_size=4))
def test_any_server_messages_end_in_an_error_or_the_end(mechanism: str, printed: list[bytes]) -> None:
    """SCRAM never succeeds: no such broker knows the password."""
    dialogue = DIALOGUES[mechanism]()
    next(dialogue)
    ended = False
    with contextlib.suppress(AuthenticationFailed, RemoteProtocolError):
        try:
            for answer in printed:
                dialogue.send(answer)
        except StopIteration:
            ended = True
    assert not (ended and mechanism == "SCRAM")


@given(answer=answers.filter(bool))
def test_rejected_token_is_answered_as_rfc_7628_requires(answer: bytes) -> None:
    dialogue = oauthbearer(Secret("to.ken"), {"k": "v"})
    assert next(dialogue) == b"n,,\1auth=Bearer to.ken\1k=v\1\1"
    assert dialogue.send(answer) == b"\1"
    with pytest.raises(AuthenticationFailed, match="rejected the token"):
        dialogue.send(b"")


@given(message=st.binary())
def test_sasl_message_repr_hides_its_content(message: bytes) -> None:
    assert repr(SaslAuthenticate(message)) == str(SaslAuthenticate(message)) == "SaslAuthenticate(****)"
