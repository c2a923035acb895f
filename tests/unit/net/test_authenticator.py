from __future__ import annotations

import asyncio
import re
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from kgroups.config.secret import Secret
from kgroups.config.security import Kerberos, Mechanism, Password, Sasl, Security, StaticToken, UnsecuredToken
from kgroups.errors import (
    AuthenticationFailed,
    BrokerUnavailable,
    ClusterUnreachable,
    ConfigError,
    KgroupsError,
    Reason,
    UnsupportedMechanism,
)
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Exchange
from kgroups.net.pool import LANES
from kgroups.protocol.apis.list_groups import ListGroups
from kgroups.protocol.sasl import Dialogue
from tests.fakes import broker as faults
from tests.fakes import sasl
from tests.fakes.asking import PATIENCE
from tests.fakes.broker import FakeCluster
from tests.fakes.certificates import Certificates

T = TypeVar("T")

PASSWORD = "s3cret,=pässword"
USERS = {"ann": PASSWORD}
ANN = Password("ann", Secret(PASSWORD))
PLAIN = Sasl(Mechanism.PLAIN, ANN)
SCRAM = Sasl(Mechanism.SCRAM_SHA_256, ANN)


def asking_for(sasl_: sasl.FakeSasl, brokers: int = 2, version: str = "4.3.1") -> FakeCluster:
    fake = FakeCluster(brokers, version)
    fake.secure(asked=sasl_)
    return fake


def with_cluster(
    fake: FakeCluster,
    by: Sasl,
    work: Callable[[Cluster], Awaitable[T]] | None = None,
    seen: list[Exchange] | None = None,
    **settings: Any,
) -> T | None:
    async def run() -> T | None:
        async with fake:
            asked = fake.settings(**{"security": Security(sasl=by), **settings})
            cluster, _ = await Cluster.connect(asked, observer=seen.append if seen is not None else None)
            async with cluster:
                if work:
                    return await work(cluster)
                for node in cluster.nodes.values():
                    assert (await cluster.call(node, ListGroups())).error is None
                return None

    return asyncio.run(run())


def plain_server(**rest: Any) -> sasl.FakeSasl:
    return sasl.FakeSasl({"PLAIN": sasl.plain(USERS)}, **rest)


def scram_server(**rest: Any) -> sasl.FakeSasl:
    return sasl.FakeSasl({"SCRAM-SHA-256": sasl.scram(USERS, **rest)})


@pytest.mark.parametrize("version", ["1.1.1", "2.8.2", "4.3.1"])
def test_connection_authenticates_once_before_other_requests(version: str) -> None:
    fake = asking_for(plain_server(), version=version)
    with_cluster(fake, PLAIN)
    for broker in fake.brokers.values():
        asked = [request.api for request in broker.requests]
        assert asked[-4:] != [] and asked.count("SaslAuthenticate") == broker.connections == 1
        first = [api for api in asked if api != "ApiVersions"]
        assert first[:2] == ["SaslHandshake", "SaslAuthenticate"] and asked[0] == "ApiVersions"


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_authenticates(mechanism: str) -> None:
    fake = asking_for(sasl.FakeSasl({mechanism: sasl.scram(USERS, mechanism)}))
    with_cluster(fake, Sasl(mechanism, ANN))


def test_scram_over_tls_authenticates(certificates: Certificates) -> None:
    fake = FakeCluster(2)
    fake.secure(certificates.server(), scram_server())
    with_cluster(fake, SCRAM, security=Security(certificates.trusting, SCRAM))


def test_oauthbearer_sends_token_and_extensions() -> None:
    answer: list[str] = []
    fake = asking_for(sasl.FakeSasl({"OAUTHBEARER": sasl.bearer("abc.def".__eq__, answer)}))
    with_cluster(fake, Sasl("OAUTHBEARER", StaticToken(Secret("abc.def"), {"logicalCluster": "lkc-1"})))
    assert set(answer) == {"n,,\1auth=Bearer abc.def\1logicalCluster=lkc-1\1\1"}


# Refused.


def failing(fake: FakeCluster, by: Sasl, words: str, **settings: Any) -> str:
    """The error, which holds no secret; nor does what ``--debug`` shows, nor the errors before it."""
    seen: list[Exchange] = []
    with pytest.raises(KgroupsError, match=words) as caught:
        with_cluster(fake, by, seen=seen, **settings)
    error: BaseException | None = caught.value
    while error:
        for text in (str(error), repr(error), str(getattr(error, "hint", "")), repr(seen), repr(by)):
            assert PASSWORD not in text and "abc.def" not in text
        error = error.__cause__ or error.__context__
    assert caught.value.exit_code == 1
    return str(caught.value)


WRONG = Password("ann", Secret("wrong"))


@pytest.mark.parametrize(
    ("server", "by", "words"),
    [
        (
            plain_server(),
            Sasl("PLAIN", WRONG),
            r": SASL authentication failed \(PLAIN as ann\): .*Invalid username or password",
        ),
        (
            scram_server(),
            Sasl("SCRAM-SHA-256", WRONG),
            r"failed \(SCRAM-SHA-256 as ann\): .*credentials",
        ),
        (
            sasl.FakeSasl({"OAUTHBEARER": sasl.bearer(lambda token: False)}),
            Sasl("OAUTHBEARER", StaticToken(Secret("abc.def"))),
            r"authentication failed \(OAUTHBEARER\): .*invalid_token",
        ),
    ],
    ids=["PLAIN", "SCRAM", "OAUTHBEARER"],
)
def test_wrong_password_is_tried_on_at_most_two_brokers(server: sasl.FakeSasl, by: Sasl, words: str) -> None:
    server.refused = 0
    failing(asking_for(server, brokers=6), by, words)
    assert 1 <= server.refused <= 2


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_rejected_placeholder_is_named_in_the_hint(mechanism: str) -> None:
    server = plain_server() if mechanism == "PLAIN" else scram_server()
    by = Sasl(mechanism, Password("ann", Secret("${KAFKA_PASSWORD}")))
    with pytest.raises(KgroupsError) as caught:
        with_cluster(asking_for(server), by)
    assert caught.value.hint == (
        "the password is the placeholder ${KAFKA_PASSWORD}, which is sent as it is; use ${env:NAME} or ${file:PATH:KEY}"
    )


def test_broker_that_hangs_in_authentication_does_not_hide_a_good_one() -> None:
    server = plain_server()
    fake = asking_for(server, brokers=3)
    fake.brokers[0].fault("SaslAuthenticate", faults.silence)

    async def work(cluster: Cluster) -> None:
        assert (await cluster.call(cluster.nodes[1], ListGroups())).error is None

    with_cluster(fake, PLAIN, work)


@pytest.mark.usefixtures("virtual_time")
def test_password_is_not_sent_to_third_broker_while_two_hang() -> None:
    fake = asking_for(plain_server(), brokers=4)
    for at in (0, 1):
        fake.brokers[at].fault("SaslAuthenticate", faults.silence)

    async def work(cluster: Cluster) -> None:
        pass

    with_cluster(fake, PLAIN, work, broker_timeout=PATIENCE)  # and then the third is asked
    assert [request.broker for request in fake.asked("SaslAuthenticate")][:3] == [0, 1, 2]


def test_broker_that_rejects_later_authentication_is_marked_down() -> None:
    fake = asking_for(plain_server(), brokers=2)
    fake.brokers[1].sasl = sasl.FakeSasl({"PLAIN": sasl.plain({})})

    async def work(cluster: Cluster) -> None:
        for _ in range(3):
            with pytest.raises(AuthenticationFailed, match="SASL authentication failed"):
                await cluster.call(cluster.nodes[1], ListGroups())
            assert (await cluster.call(cluster.nodes[0], ListGroups())).error is None

    settings = fake.settings
    fake.settings = lambda *via, **rest: settings(0, **rest)  # type: ignore[method-assign]
    with_cluster(fake, PLAIN, work)
    assert fake.brokers[1].sasl.refused == 1


def test_disabled_mechanism_is_not_replaced_by_another() -> None:
    """A mechanism offered by the broker may be weaker, and the broker may be an impostor."""
    fake = asking_for(plain_server())
    failing(fake, SCRAM, "SCRAM-SHA-256 is not enabled on this port; the broker offers PLAIN$")
    assert not fake.asked("SaslAuthenticate")


def test_unknown_mechanism_is_unsupported_and_sends_nothing() -> None:
    fake = asking_for(plain_server())
    with pytest.raises(
        UnsupportedMechanism, match="does not support SASL mechanism CROSSED-FINGERS; it supports PLAIN, SCRAM"
    ):
        with_cluster(fake, Sasl("CROSSED-FINGERS", ANN))
    assert not fake.requests


def test_credentials_of_another_mechanism_are_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"sasl\.jaas\.config has no credentials for PLAIN"):
        with_cluster(asking_for(plain_server()), Sasl("PLAIN", StaticToken(Secret("abc.def"))))


def test_sasl_on_listener_without_sasl_is_named() -> None:
    fake = asking_for(sasl.FakeSasl({}, wanted=False))
    failing(fake, PLAIN, "the listener on this port does not use SASL$")


def test_sasl_on_broker_without_sasl_support_is_named() -> None:
    failing(FakeCluster(1), PLAIN, "127.0.0.1:[0-9]+: does not support SASL: the broker does not support SaslHandshake")


def test_plaintext_on_sasl_listener_hints_at_security_protocol() -> None:
    fake = asking_for(plain_server(), brokers=1)
    with pytest.raises(ClusterUnreachable, match="closed the connection") as caught:
        with_cluster(fake, PLAIN, security=None)
    assert caught.value.reason is Reason.CONNECTION_CLOSED
    assert caught.value.hint and "set security.protocol to SASL_PLAINTEXT" in caught.value.hint


# A server that is none, or means no good.


def nonce(text: str) -> str:
    return re.sub("^r=.{8}", "r=evilevil", text)


def own_nonce(text: str) -> str:
    """The client's alone, to which the server must add its own."""
    return re.sub("^r=(.{64})[^,]*", r"r=\1", text)


@pytest.mark.parametrize(
    ("bent", "words"),
    [
        (
            {"final": lambda _: "v=" + "A" * 43 + "="},
            "the broker's signature does not verify: it does not know the pass",
        ),
        ({"final": lambda _: "v="}, "signature does not verify"),
        ({"final": lambda _: ""}, "last message is not SCRAM's"),
        ({"final": lambda text: text[:-10]}, "signature does not verify"),
        ({"final": lambda _: "e=other-error"}, "the broker reports other-error"),
        ({"first": nonce}, "first message is not SCRAM's: it does not continue the client's nonce"),
        ({"first": own_nonce}, "first message is not SCRAM's: the broker adds nothing"),
        ({"first": lambda text: text.replace("i=4096", "i=4095")}, "requests 4,095 iterations of SCRAM; between 4,096"),
        ({"first": lambda text: text.replace("i=4096", "i=9999999")}, "requests 9,999,999 iterations"),
        ({"first": lambda text: text.replace("i=4096", "i=99999999999999999999")}, "first message is not SCRAM's"),
        ({"first": lambda text: text.replace("i=4096", "i=-1")}, "first message is not SCRAM's"),
        ({"first": lambda text: text[:40]}, "first message is not SCRAM's"),
        ({"first": lambda _: ""}, "first message is not SCRAM's"),
        ({"first": lambda text: "m=must," + text}, "first message is not SCRAM's"),
        ({"first": lambda text: text + ",x=" + "y" * 5000}, "SCRAM's are short"),
        ({"first": lambda _: "e=unknown-user"}, "the broker reports unknown-user"),
        ({"first": lambda text: re.sub("s=[^,]*", "s=AAAA", text)}, "first message is not SCRAM's"),
    ],
)
def test_scram_server_with_wrong_signature_is_rejected(bent: dict[str, Any], words: str) -> None:
    failing(asking_for(scram_server(**bent)), SCRAM, rf"SCRAM-SHA-256 as ann: .*{words}")


def test_scram_success_without_server_proof_is_rejected() -> None:
    """Success at the first message would let any server pose as the broker."""
    fake = asking_for(sasl.FakeSasl({"SCRAM-SHA-256": sasl.always(b"")}))
    failing(fake, SCRAM, "first message is not SCRAM's")


def test_plain_server_with_extra_messages_is_rejected() -> None:
    """SCRAM and PLAIN have an end of their own; where there is none, something is wrong."""
    server = sasl.FakeSasl({"PLAIN": sasl.always(b"more", b"and more")})
    failing(asking_for(server), PLAIN, "responds to PLAIN with 4 bytes")


@pytest.mark.usefixtures("virtual_time")
@pytest.mark.parametrize("api", ["ApiVersions", "SaslHandshake", "SaslAuthenticate"])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.silence, r"no response to {api} within"),
        (faults.close, r"closed the connection"),
        (faults.cut_frame, r"closed the connection, \d+ bytes into a response"),
        (faults.truncated(7), r"undecodable|ends too soon|not a valid ApiVersions response"),
        (faults.trailing, r"3 bytes after the end"),
        (faults.raw(b"\x7f\xff\xff\xff"), r"a frame of 2147483647 bytes"),
    ],
    ids=["silence", "close", "cut", "truncated", "trailing", "absurd"],
)
def test_broker_fault_during_authentication_is_reported(api: str, fault: faults.Fault, words: str) -> None:
    fake = asking_for(scram_server(), brokers=1)
    fake.brokers[0].fault(api, fault)
    began = time.monotonic()
    failing(fake, SCRAM, words.format(api=api), broker_timeout=PATIENCE)
    assert time.monotonic() - began < 15
    assert len(fake.asked("SaslAuthenticate")) <= 1


def test_password_in_broker_error_is_masked() -> None:
    def indiscreet() -> sasl.Mechanism:
        message = yield b""
        raise sasl.Refused("no " + message.decode().rpartition("\0")[2])

    output = failing(asking_for(sasl.FakeSasl({"PLAIN": indiscreet})), PLAIN, "SASL authentication failed")
    assert output.endswith("no ****")


def test_long_broker_error_is_truncated() -> None:
    def talkative() -> sasl.Mechanism:
        yield b""
        raise sasl.Refused("x" * 20_000)

    assert len(failing(asking_for(sasl.FakeSasl({"PLAIN": talkative})), PLAIN, "SASL authentication failed")) < 1_000


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (Sasl("PLAIN", Password("a\0b", Secret(PASSWORD))), "does not allow NUL"),
        (Sasl("PLAIN", Password("ann", Secret("\udcff"))), "is not valid UTF-8"),
        (Sasl("SCRAM-SHA-256", Password("ann", Secret("\udcff"))), "is not valid UTF-8"),
        (Sasl("OAUTHBEARER", StaticToken(Secret(""))), "the token is empty"),
        (Sasl("OAUTHBEARER", StaticToken(Secret("abc.def\1host=evil"))), "other invalid characters"),
        (Sasl("OAUTHBEARER", StaticToken(Secret("t"), {"auth": "Bearer x"})), "the SASL extension 'auth' is invalid"),
        (Sasl("OAUTHBEARER", StaticToken(Secret("t"), {"a b": "x"})), "the SASL extension 'a b' is invalid"),
        (Sasl("OAUTHBEARER", StaticToken(Secret("t"), {"a": "\1auth=x"})), "the SASL extension 'a' is invalid"),
    ],
)
def test_credentials_that_cannot_be_encoded_are_not_sent(by: Sasl, words: str) -> None:
    server = sasl.FakeSasl({name: sasl.always(b"") for name in Mechanism})
    fake = asking_for(server)
    failing(fake, by, words)
    assert not fake.asked("SaslAuthenticate")


# Sessions that end (KIP-368).

LONG = 30.0
"""Seconds that a sign-in holds which is renewed soon: far from its end, which a busy machine may miss."""


@pytest.fixture
def short_renewal_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign-in that holds so long is renewed after a third of a second."""
    monkeypatch.setattr("kgroups.net.authenticator.SHORTEST", 0.1)
    monkeypatch.setattr("kgroups.net.authenticator.RENEW_FROM", 0.01)
    monkeypatch.setattr("kgroups.net.authenticator.RENEW_TO", 0.011)


@pytest.mark.usefixtures("short_renewal_times")
def test_authentication_is_renewed_during_requests() -> None:
    """The fake fails on requests during authentication, and closes connections that are not renewed in time."""
    server = sasl.FakeSasl({"SCRAM-SHA-256": sasl.scram(USERS)}, lifetime=LONG)
    fake = asking_for(server, brokers=1)

    async def work(cluster: Cluster) -> int:
        answered = 0
        while server.attempts < 4:
            calls = [cluster.call(cluster.nodes[0], ListGroups()) for _ in range(20)]
            answered += len(await asyncio.gather(*calls))
            await asyncio.sleep(0.001)
        return answered

    assert (with_cluster(fake, SCRAM, work) or 0) > 20
    assert fake.brokers[0].connections == 1
    assert server.refused == 0


@pytest.mark.usefixtures("virtual_time")
def test_short_session_gets_a_new_connection() -> None:
    """A broker takes no second sign-in on a connection within a second."""
    server = plain_server(lifetime=0.9)
    fake = asking_for(server, brokers=1)

    async def work(cluster: Cluster) -> None:
        for _ in range(3):
            assert (await cluster.call(cluster.nodes[0], ListGroups())).error is None
            await asyncio.sleep(0.95)

    with_cluster(fake, PLAIN, work)
    assert fake.brokers[0].connections == server.attempts >= 3


@pytest.mark.usefixtures("short_renewal_times")
def test_rejected_renewal_marks_the_broker_down() -> None:
    users = dict(USERS)
    server = sasl.FakeSasl({"PLAIN": sasl.plain(users)}, lifetime=LONG)
    fake = asking_for(server, brokers=1)

    async def work(cluster: Cluster) -> None:
        users.clear()
        with pytest.raises(BrokerUnavailable, match=r"SASL authentication failed \(PLAIN as ann\)"):
            while True:
                await cluster.call(cluster.nodes[0], ListGroups())
                await asyncio.sleep(0.01)
        with pytest.raises(BrokerUnavailable):
            await cluster.call(cluster.nodes[0], ListGroups())

    with_cluster(fake, PLAIN, work)
    assert server.refused == 1


@pytest.mark.usefixtures("short_renewal_times")
def test_renewal_without_response_fails_waiting_requests() -> None:
    fake = asking_for(plain_server(lifetime=LONG), brokers=1)

    async def work(cluster: Cluster) -> None:
        fake.brokers[0].fault("SaslHandshake", faults.silence)
        with pytest.raises(BrokerUnavailable, match="no response to"):
            while True:
                await cluster.call(cluster.nodes[0], ListGroups())
                await asyncio.sleep(0.01)

    with_cluster(fake, PLAIN, work, broker_timeout=PATIENCE)


@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
@pytest.mark.parametrize("fault", [faults.close, faults.cut_frame])
@pytest.mark.parametrize("over_tls", [False, True], ids=["plain", "tls"])
@pytest.mark.usefixtures("short_renewal_times")
def test_connection_lost_during_renewal_is_reopened(
    api: str, fault: faults.Fault, over_tls: bool, certificates: Certificates
) -> None:
    """Waiting requests, including changes, use the new connection: none was sent before."""
    server = plain_server(lifetime=LONG)
    fake = FakeCluster(1)
    fake.secure(certificates.server() if over_tls else None, server)

    async def work(cluster: Cluster) -> None:
        broker, node = fake.brokers[0], cluster.nodes[0]
        begun, waiting = asyncio.Event(), asyncio.Event()

        async def once_others_wait(writer: asyncio.StreamWriter, answer: bytes) -> None:
            begun.set()
            await waiting.wait()
            await fault(writer, answer)

        broker.fault(api, once_others_wait, times=1)
        await asyncio.wait_for(begun.wait(), 60)
        asked = [asyncio.ensure_future(put(node, ListGroups())) for put in (cluster.call, cluster.change) * 5]
        await asyncio.sleep(0)
        waiting.set()
        assert [answer.error for answer in await asyncio.gather(*asked)] == [None] * 10
        assert cluster.reachable(node)
        assert (await cluster.call(node, ListGroups())).error is None

    security = Security(certificates.trusting if over_tls else None, PLAIN)
    with_cluster(fake, PLAIN, work, security=security)
    assert fake.brokers[0].connections == 1 + LANES + 1, "one for reads, and one that is opened again"
    assert len(fake.asked("ListGroups")) == 11, "none was sent twice"


@pytest.mark.usefixtures("short_renewal_times")
def test_broker_that_closes_renewal_and_reconnect_is_marked_down() -> None:
    fake = asking_for(plain_server(lifetime=LONG), brokers=1)

    async def work(cluster: Cluster) -> None:
        fake.brokers[0].fault("SaslAuthenticate", faults.close)
        with pytest.raises(BrokerUnavailable, match=r"closed the connection, during authentication \(PLAIN as ann\)"):
            while True:
                await cluster.call(cluster.nodes[0], ListGroups())
                await asyncio.sleep(0.01)
        assert not cluster.reachable(cluster.nodes[0])
        with pytest.raises(BrokerUnavailable, match="during authentication"):
            await cluster.call(cluster.nodes[0], ListGroups())

    with_cluster(fake, PLAIN, work)
    assert fake.brokers[0].connections == 2


@pytest.mark.usefixtures("short_renewal_times")
def test_unsecured_token_is_renewed_before_it_expires() -> None:
    shown: list[str] = []
    renewed = asyncio.Event()

    def accept(token: str) -> bool:
        shown.append(token)
        if len(shown) > 1:
            renewed.set()
        return True

    async def work(cluster: Cluster) -> None:
        await asyncio.wait_for(renewed.wait(), 60)

    server = sasl.FakeSasl({"OAUTHBEARER": sasl.bearer(accept)}, lifetime=LONG)
    with_cluster(asking_for(server, 1), Sasl("OAUTHBEARER", UnsecuredToken("bob", lifetime=0.3)), work)
    assert shown[0] != shown[1]


def test_kerberos_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "kgroups.protocol.sasl.kerberos", raising=False)
    monkeypatch.setitem(sys.modules, "gssapi", None)
    server = sasl.FakeSasl({"GSSAPI": sasl.always(b"")})
    with pytest.raises(KgroupsError, match=r"pip install 'kgroups\[gssapi\]'") as caught:
        with_cluster(asking_for(server), Sasl("GSSAPI", Kerberos("kafka")))
    assert caught.value.exit_code == 2


def test_slow_kerberos_library_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library asks a key distribution center, which may be silent."""
    held = threading.Event()

    def slow(*_: object) -> Dialogue:
        held.wait(30)
        yield b""

    monkeypatch.setitem(sys.modules, "kgroups.protocol.sasl.kerberos", SimpleNamespace(kerberos=slow))
    server = sasl.FakeSasl({"GSSAPI": sasl.always(b"")})
    words = "GSSAPI as ann@REALM: no response from Kerberos in time"
    failing(asking_for(server), Sasl("GSSAPI", Kerberos("kafka", "ann@REALM")), words, broker_timeout=PATIENCE)
    held.set()


def test_scram_with_delegation_token_sends_tokenauth() -> None:
    answer: list[str] = []
    fake = asking_for(sasl.FakeSasl({"SCRAM-SHA-256": sasl.scram(USERS, reported=answer)}))
    with_cluster(fake, Sasl("SCRAM-SHA-256", ANN._replace(token_auth=True)))
    assert answer[0].startswith("n,,n=ann,r=") and answer[0].endswith(",tokenauth=true")


def test_line_breaks_in_broker_error_are_removed() -> None:
    def forging() -> sasl.Mechanism:
        yield b""
        raise sasl.Refused("no\nkgroups: note: all is well\r\n\u2028kgroups: error: call 555")

    output = failing(asking_for(sasl.FakeSasl({"PLAIN": forging})), PLAIN, "SASL authentication failed")
    assert len(output.splitlines()) == 1 and "no kgroups: note: all is well kgroups: error" in output
