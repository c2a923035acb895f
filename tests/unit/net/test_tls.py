from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kgroups.config.secret import Secret
from kgroups.config.security import Security, Tls
from kgroups.errors import ClusterUnreachable, ConfigError, KgroupsError, Reason, TlsRefused
from kgroups.net.cluster import Cluster
from kgroups.net.dial import dial
from kgroups.net.tls import tls_context
from kgroups.net.tls_errors import handshake_failure
from kgroups.net.tls_handshake import TlsConnector
from kgroups.protocol.apis.list_groups import ListGroups
from tests.fakes import broker as faults
from tests.fakes.broker import FakeCluster
from tests.fakes.certificates import Certificates


def connects(fake: FakeCluster, tls: Tls | None, **settings: Any) -> None:
    async def run() -> None:
        async with fake:
            security = Security(tls) if tls else None
            cluster, _ = await Cluster.connect(fake.settings(security=security, **settings))
            async with cluster:
                for node in cluster.nodes.values():
                    assert (await cluster.call(node, ListGroups())).error is None

    asyncio.run(run())


def secure(context: ssl.SSLContext) -> FakeCluster:
    fake = FakeCluster(2)
    fake.secure(context)
    return fake


def refused(fake: FakeCluster, tls: Tls | None, words: str, *reasons: Reason, **settings: Any) -> None:
    """``words`` are searched in the message and its hint; each of ``reasons`` is allowed."""
    with pytest.raises(ClusterUnreachable) as caught:
        connects(fake, tls, **settings)
    assert re.search(words, f"{caught.value}; {caught.value.hint}")
    assert caught.value.reason in reasons


def test_tls_connects_to_trusted_broker(certificates: Certificates) -> None:
    connects(secure(certificates.server()), certificates.trusting)


def test_tls_connects_by_certificate_host_name(certificates: Certificates) -> None:
    fake = secure(certificates.server())
    fake.host = "localhost"
    connects(fake, certificates.trusting)


@pytest.mark.parametrize("key", ["client.key", "encrypted.key", "encrypted-pbes2.key"])
def test_tls_sends_client_certificate(certificates: Certificates, key: str) -> None:
    made = certificates.made
    tls = certificates.known._replace(
        key=Secret((made.folder / key).read_text()), key_password=Secret(made.key_password)
    )
    connects(secure(certificates.server(client=True)), tls)


def test_tls_trusts_broker_certificate_without_its_authority(certificates: Certificates) -> None:
    """The broker's own certificate may be trusted, as in Java."""
    leaf = certificates.made.server.certificate.read_text().partition("-----END")[0] + "-----END CERTIFICATE-----\n"
    connects(secure(certificates.server()), Tls(authorities=leaf))


@pytest.mark.parametrize(
    ("shown", "words", "reason"),
    [
        (
            "expired",
            r"its certificate has expired: it was valid until 2021-01-01 00:00:00 UTC",
            Reason.CERTIFICATE_EXPIRED,
        ),
        (
            "wrong_name",
            r"its certificate is for elsewhere\.example, not for 127\.0\.0\.1; connect by a name",
            Reason.CERTIFICATE_NAME_MISMATCH,
        ),
        (
            "self_signed",
            r"self-signed \(CN=localhost\) and not trusted; .*ssl\.truststore\.location",
            Reason.CERTIFICATE_UNTRUSTED,
        ),
    ],
)
def test_tls_rejects_invalid_certificate_with_reason(
    certificates: Certificates, shown: str, words: str, reason: Reason
) -> None:
    fake = secure(certificates.server(getattr(certificates.made, shown)))
    refused(fake, certificates.trusting, words, reason)
    assert not fake.requests


def test_tls_rejects_unknown_authority(certificates: Certificates) -> None:
    words = r"signed by an authority \(CN=kgroups sandbox\) that is not trusted; .*ssl\.truststore\.location"
    stranger = certificates.made.self_signed.certificate.read_text()
    refused(secure(certificates.server()), Tls(authorities=stranger), words, Reason.CERTIFICATE_UNTRUSTED)


@pytest.mark.parametrize(
    ("shown", "change"),
    [("wrong_name", {"check_name": False}), ("expired", {"verify": False}), ("self_signed", {"verify": False})],
)
def test_tls_verification_is_disabled_by_setting(
    certificates: Certificates, shown: str, change: dict[str, Any]
) -> None:
    tls = certificates.trusting._replace(**change)
    connects(secure(certificates.server(getattr(certificates.made, shown))), tls)


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_tls_missing_client_certificate_is_named(certificates: Certificates, version: str) -> None:
    tls = certificates.trusting._replace(versions=(version,))
    context = certificates.server(client=True)
    with listening(shaking_hands(context)) as port:
        words = r"requires a client certificate.*ssl\.keystore\.location"
        refused(at(port), tls, words, Reason.CLIENT_CERTIFICATE_REQUIRED, Reason.TLS_FAILED)
    # asyncio's servers close the connection without an alert.
    refused(secure(context), tls, words, Reason.TLS_FAILED, Reason.CONNECTION_CLOSED)


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_tls_untrusted_client_certificate_is_named(certificates: Certificates, version: str) -> None:
    tls = certificates.showing(certificates.made.self_signed)._replace(versions=(version,))
    with listening(shaking_hands(certificates.server(client=True))) as port:
        refused(
            at(port),
            tls,
            r"rejected the client certificate: it does not trust the authority .*ssl\.keystore\.location",
            Reason.CLIENT_CERTIFICATE_REJECTED,
        )


def test_tls_without_common_version_is_incompatible(certificates: Certificates) -> None:
    context = certificates.server()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    tls = certificates.trusting._replace(versions=("TLSv1.3",))
    with listening(shaking_hands(context)) as port:
        refused(at(port), tls, r"no TLS version in common.*ssl\.enabled\.protocols", Reason.TLS_INCOMPATIBLE)


def test_tls_without_common_cipher_fails(certificates: Certificates) -> None:
    context = certificates.server()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
    tls = certificates.trusting._replace(ciphers=("ECDHE-RSA-AES256-GCM-SHA384",))
    with listening(shaking_hands(context)) as port:
        refused(at(port), tls, r"no TLS version or cipher suite.*ssl\.cipher\.suites", Reason.TLS_FAILED)


@pytest.mark.parametrize("ciphers", ["ALL:@SECLEVEL=0", "ALL:COMPLEMENTOFALL:@SECLEVEL=0", "DEFAULT:aNULL:@SECLEVEL=0"])
def test_tls_server_without_certificate_is_rejected(certificates: Certificates, ciphers: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("aNULL:@SECLEVEL=0")
    fake = secure(context)
    tls = certificates.trusting._replace(ciphers=(ciphers,))
    refused(fake, tls, "TLS handshake", Reason.TLS_FAILED)
    assert not fake.requests


@pytest.mark.parametrize("ciphers", ["aNULL", "eNULL:@SECLEVEL=0"])
def test_cipher_suites_without_authentication_are_a_config_error(ciphers: str) -> None:
    with pytest.raises(ConfigError, match="none that authenticates and encrypts"):
        tls_context(Tls(ciphers=(ciphers,)))


def test_tls_to_plaintext_port_is_named(certificates: Certificates) -> None:
    """To a plain broker a handshake is the announcement of a huge request: it closes the connection."""
    words = r"closed the connection during the TLS handshake; if the listener is PLAINTEXT"
    with listening(lambda sock: sock.recv(100)) as port:
        refused(at(port), certificates.trusting, words, Reason.TLS_FAILED)


def test_tls_to_other_protocol_is_named(certificates: Certificates) -> None:
    with listening(lambda sock: sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as port:
        refused(at(port), certificates.trusting, "does not speak TLS on this port", Reason.NOT_TLS)


def test_plaintext_to_tls_port_hints_at_ssl(certificates: Certificates) -> None:
    words = r"set security\.protocol to SSL or SASL_SSL"
    refused(secure(certificates.server()), None, words, Reason.TLS_REQUIRED, Reason.CONNECTION_CLOSED)


def test_tls_handshake_that_hangs_times_out(certificates: Certificates) -> None:
    held = threading.Event()
    with listening(lambda _: held.wait(30)) as port:
        refused(at(port), certificates.trusting, r"no connection within 0\.3 s", Reason.NO_RESPONSE, broker_timeout=0.3)
        held.set()


def test_certificate_inspection_that_hangs_times_out(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker shows a bad certificate once, and is silent when it is asked for it again."""
    monkeypatch.setattr("kgroups.net.tls_handshake.LOOK", 0.1)
    held = threading.Event()
    server, times = certificates.server(certificates.made.wrong_name), iter(range(10))

    def once(sock: socket.socket) -> None:
        if next(times):
            held.wait(30)
        else:
            with contextlib.suppress(OSError):
                server.wrap_socket(sock, server_side=True)

    with listening(once) as port:
        words = r"its certificate is not for 127\.0\.0\.1"
        refused(at(port), certificates.trusting, words, Reason.CERTIFICATE_NAME_MISMATCH)
        held.set()


def shaking_hands(context: ssl.SSLContext) -> Callable[[socket.socket], object]:
    """A server that says what it does not like, as Java's do, and reads until the other side is gone."""

    def serve(sock: socket.socket) -> None:
        with context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False) as wrapped:
            with contextlib.suppress(OSError):
                wrapped.do_handshake()
            with contextlib.suppress(OSError):  # what is left unread would take the alert with it
                while socket.socket.recv(wrapped, 1000):
                    pass

    return serve


def at(port: int) -> FakeCluster:
    """A cluster of which only a bootstrap server is said to be there."""
    fake = FakeCluster(1)
    fake.brokers[0].alive = False

    async def start() -> None:
        fake.brokers[0].port = port

    fake.brokers[0].start = start  # type: ignore[method-assign]
    return fake


@contextlib.contextmanager
def listening(serve: Callable[[socket.socket], object]) -> Iterator[int]:
    """A server that does so with each connection, and closes it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def run(sock: socket.socket) -> None:
            with sock:
                serve(sock)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=run, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def test_tls_connection_closed_by_broker_is_lost(certificates: Certificates) -> None:
    fake = FakeCluster(1)
    fake.secure(certificates.server())
    fake.brokers[0].fault("ListGroups", faults.cut_frame)
    with pytest.raises(KgroupsError, match=r"closed the connection, \d+ bytes into a response"):
        connects(fake, certificates.trusting)


def test_tls_checks_the_requested_host_name(certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the address that it resolves to; a dot at its end is no part of it."""
    here = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 1))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [here])
    fake = FakeCluster(1)
    fake.secure(certificates.server())

    async def run() -> None:
        async with fake:
            door = TlsConnector(certificates.trusting)
            for host in ("localhost", "localhost."):
                where = {"name": "b0", "client_id": "test", "timeout": 3.0, "tls": door}
                (await dial(host, fake.brokers[0].port, **where)).close()  # type: ignore[arg-type]
            with pytest.raises(TlsRefused, match=r"is for localhost, 127\.0\.0\.1, not for other\.example"):
                await dial("other.example", fake.brokers[0].port, **where)  # type: ignore[arg-type]
            await asyncio.sleep(0)

    asyncio.run(run())


# Impossible settings are errors before any connection.


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"authorities": "nonsense"}, r"ssl\.truststore: the certificates cannot be read"),
        ({"authorities": ""}, r"ssl\.truststore: the certificates cannot be read"),
        ({"authorities": "-----BEGIN CERTIFICATE-----\nMIIB"}, r"ssl\.truststore: the certificates cannot be read"),
        ({"key": None}, r"ssl\.keystore: there is a certificate, but no matching key"),
        ({"certificate": None}, r"ssl\.keystore: there is a key, but no matching certificate"),
        ({"certificate": "nonsense"}, r"ssl\.keystore: the certificate or its key cannot be read"),
        ({"key": Secret("-----BEGIN PRIVATE KEY-----\nMIIB")}, r"ssl\.keystore: the certificate or its key"),
        ({"versions": ("TLSv1.9",)}, r"ssl\.enabled\.protocols: unsupported version TLSv1\.9"),
        ({"versions": ("TLSv1", "TLSv1.1")}, r"ssl\.enabled\.protocols: TLSv1, TLSv1\.1 is not safe"),
        ({"ciphers": ("NOTHING",)}, r"ssl\.cipher\.suites: OpenSSL supports none of NOTHING"),
    ],
)
def test_invalid_tls_settings_are_config_errors(certificates: Certificates, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        tls_context(certificates.known._replace(**change))


def test_encrypted_key_without_password_is_an_error_without_prompt(certificates: Certificates) -> None:
    made = certificates.made
    encrypted = certificates.known._replace(key=Secret(made.encrypted_key.read_text()))
    with pytest.raises(ConfigError, match=r"is encrypted: set ssl\.key\.password"):
        tls_context(encrypted)
    with pytest.raises(ConfigError, match=r"cannot be read: check ssl\.key\.password") as caught:
        tls_context(encrypted._replace(key_password=Secret("wrong-as-can-be")))
    assert "wrong-as-can-be" not in str(caught.value)


def test_key_of_another_certificate_is_a_config_error(certificates: Certificates) -> None:
    other = Secret(certificates.made.server.key.read_text())
    with pytest.raises(ConfigError, match="the private key does not match the certificate"):
        tls_context(certificates.known._replace(key=other))


@pytest.mark.parametrize("in_memory", [True, False])
def test_private_key_leaves_no_file(
    certificates: Certificates, in_memory: bool, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    if not in_memory:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    tls_context(certificates.known)  # so that what it opens once is open
    before = os.dup(0)
    os.close(before)
    tls_context(certificates.known)
    after = os.dup(0)
    os.close(after)
    assert after == before, "a file is still open"
    assert list(tmp_path.iterdir()) == []


def test_tls_context_uses_configured_versions_and_ciphers(certificates: Certificates) -> None:
    def context(**change: Any) -> ssl.SSLContext:
        return tls_context(certificates.trusting._replace(**change))

    both = context(versions=("TLSv1.3", "TLSv1.2", "TLSv1.1"))
    assert (both.minimum_version, both.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
    assert context(ciphers=("TLS_AES_256_GCM_SHA384",)).minimum_version == ssl.TLSVersion.TLSv1_3
    old = context(ciphers=("ECDHE-RSA-AES256-GCM-SHA384",))
    assert old.maximum_version == ssl.TLSVersion.TLSv1_2
    assert "ECDHE-RSA-AES256-GCM-SHA384" in {cipher["name"] for cipher in old.get_ciphers()}


def test_tls_verification_is_on_by_default() -> None:
    context = tls_context(Tls())
    assert context.check_hostname and context.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(("ours", "reported"), [(False, "requires a client certificate"), (True, "TLS failed: ")])
def test_bad_record_mac_suggests_missing_client_certificate(ours: bool, reported: str) -> None:
    """Kafka 2.8 sometimes ends a TLS 1.3 handshake without a client certificate this way."""
    error = ssl.SSLError(1, "decryption failed or bad record mac")
    error.reason = "DECRYPTION_FAILED_OR_BAD_RECORD_MAC"
    assert reported in "; ".join(handshake_failure(error, ours=ours))
