"""Client configurations that must fail: mistakes of users and brokers, and attacks on the connection."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from kgroups.errors import SandboxError
from kgroups.sandbox.security import Secure, need_kerberos
from kgroups.sandbox.security.client_configs import Settings, by_client, by_password, protocol_of, unsecured
from kgroups.sandbox.security.token_server import Signer
from kgroups.sandbox.security.users import OPERATOR
from tests.integration.versions import MAIN

WRONG: Final = "not-the-password-0123456789"
"""Nobody may see this either: it may be right somewhere else."""


class Misuse(NamedTuple):
    listener: str
    settings: Callable[[Secure, Path, str], Settings]
    """Of the cluster, a folder for files of its own, and the address of a server that never answers."""
    code: int
    says: str
    """Part of kgroups' one line, as a regular expression."""
    librdkafka: str | None = None
    """Part of it over librdkafka, whose words are its own; ``None``: not asked, for it is the same code."""


def _changed(way: str, **changes: str) -> Callable[[Secure, Path, str], Settings]:
    """The operator's settings, but for some; keys with ``_`` for ``.``."""

    def settings(secure: Secure, folder: Path, hanging: str) -> Settings:
        return {**secure.ways[way].settings, **{key.replace("_", "."): value for key, value in changes.items()}}

    return settings


def _wrong_password(mechanism: str, user: str = OPERATOR) -> Callable[[Secure, Path, str], Settings]:
    def settings(secure: Secure, folder: Path, hanging: str) -> Settings:
        return {**protocol_of("SASL_SSL", secure.certificates), **by_password(mechanism, user, WRONG)}

    return settings


def _truncated(way: str, key: str) -> Callable[[Secure, Path, str], Settings]:
    """A PEM file that ends in the middle, as of a full disk or a careless hand."""

    def settings(secure: Secure, folder: Path, hanging: str) -> Settings:
        whole = Path(secure.ways[way].settings[key]).read_text()
        file = folder / f"truncated-{way}.pem"
        file.touch(0o600)
        file.write_text(whole[: len(whole) // 3])
        return {**secure.ways[way].settings, key: str(file)}

    return settings


def _without_certificate(secure: Secure, folder: Path, hanging: str) -> Settings:
    return protocol_of("MTLS", secure.certificates)


def _strange_certificate(secure: Secure, folder: Path, hanging: str) -> Settings:
    """One that no authority signed."""
    pair = secure.certificates.self_signed
    file = folder / "strange.pem"
    file.touch(0o600)
    file.write_text(pair.key.read_text() + pair.certificate.read_text())
    store = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(file)}
    return {**protocol_of("MTLS", secure.certificates), **store}


def _by_client(endpoint: str | None = None, secret: str | None = None) -> Callable[[Secure, Path, str], Settings]:
    def settings(secure: Secure, folder: Path, hanging: str) -> Settings:
        assert secure.tokens
        where = {None: secure.tokens.endpoint, "hanging": f"http://{hanging}/token"}.get(endpoint, str(endpoint))
        login = by_client(where, OPERATOR, secret or secure.tokens.clients[OPERATOR])
        return {**protocol_of("SASL_SSL", secure.certificates), **login}

    return settings


def _expired_token(secure: Secure, folder: Path, hanging: str) -> Settings:
    assert secure.tokens
    file = folder / "expired.jwt"
    file.touch(0o600)
    token = Signer(secure.tokens.file.with_name("signing.key")).token(OPERATOR, -3600)
    file.write_text(secure.secrets.keep(token))
    settings = dict(secure.ways["sasl-ssl-oauthbearer-token"].settings)
    return {**settings, "sasl.oauthbearer.token.endpoint.url": file.as_uri()}


def _unsigned_token(secure: Secure, folder: Path, hanging: str) -> Settings:
    return {**protocol_of("SASL_SSL", secure.certificates), **unsecured(OPERATOR)}


def _without_tickets(secure: Secure, folder: Path, hanging: str) -> Settings:
    settings = dict(secure.ways["sasl-plaintext-gssapi-tickets"].settings)
    login = f'com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true ticketCache="{folder}/none";'
    return {**settings, "sasl.jaas.config": login}


OF_BROKERS: Final = ("wrong-password-plain", "wrong-password-scram-256", "no-certificate", "mechanism-not-offered")
"""Those where the answer is the broker's, and not what we find out ourselves."""

MISUSES: Final = {
    "wrong-password-plain": Misuse(
        "SASL_SSL",
        _wrong_password("PLAIN"),
        1,
        r"SASL authentication failed \(PLAIN as operator\): .*Invalid username or password",
        r"Invalid username or password",
    ),
    "wrong-password-scram-256": Misuse(
        "SASL_SSL",
        _wrong_password("SCRAM-SHA-256"),
        1,
        r"SASL authentication failed \(SCRAM-SHA-256 as operator\): .*invalid credentials",
        r"invalid credentials",
    ),
    "wrong-password-scram-512": Misuse(
        "SASL_SSL",
        _wrong_password("SCRAM-SHA-512"),
        1,
        r"SASL authentication failed \(SCRAM-SHA-512 as operator\): .*invalid credentials",
        None,
    ),
    "unknown-user": Misuse(
        "SASL_SSL",
        _wrong_password("SCRAM-SHA-512", "nobody"),
        1,
        r"SASL authentication failed \(SCRAM-SHA-512 as nobody\): .*invalid credentials",
        None,
    ),
    "expired-certificate": Misuse(
        "EXPIRED",
        _changed("ssl"),
        1,
        r"its certificate has expired: it was valid until 2021-01-01 00:00:00 UTC",
        r"certificate verify failed",
    ),
    "self-signed-certificate": Misuse(
        "SELF_SIGNED",
        _changed("ssl"),
        1,
        r"its certificate is self-signed \(CN=localhost\)",
        r"certificate verify failed",
    ),
    "wrong-host-name": Misuse(
        "WRONG_NAME",
        _changed("ssl"),
        1,
        r"its certificate is for elsewhere.example, not for 127.0.0.1",
        r"certificate verify failed",
    ),
    "no-certificate": Misuse(
        "MTLS",
        _without_certificate,
        1,
        r"requires a client certificate.*set ssl.keystore.location",
        r"alert|record layer failure|bad record mac",  # as Kafka 2.8 now and then ends a TLS 1.3 of which it wants more
    ),
    "strange-certificate": Misuse(
        "MTLS", _strange_certificate, 1, r"rejected the client certificate.*ssl.keystore.location", r"alert"
    ),
    "no-tls-there": Misuse(
        "SASL_PLAINTEXT",
        _changed("ssl"),
        1,
        r"during the TLS handshake; .*if the listener is PLAINTEXT or SASL_PLAINTEXT",
        r"PLAINTEXT broker listener",
    ),
    "no-tls-here": Misuse(
        "SSL",
        _changed("ssl", security_protocol="PLAINTEXT"),
        1,
        r"the port speaks TLS; .*set security.protocol to SSL",
        r"cannot connect",
    ),
    "no-sign-in-there": Misuse(
        "SSL",
        _changed("sasl-ssl-plain"),
        1,
        r"the listener on this port does not use SASL; .*set security.protocol to PLAINTEXT or SSL",
        None,
    ),
    "no-sign-in-here": Misuse(
        "SASL_SSL",
        _changed("ssl"),
        1,
        r"closed the connection; .*set security.protocol to SASL_SSL",
        None,
    ),
    "mechanism-not-offered": Misuse(
        "UNSECURED_SSL",
        _changed("sasl-ssl-scram-sha-512"),
        1,
        r"SCRAM-SHA-512 is not enabled on this port; the broker offers OAUTHBEARER",
        r"supported mechanisms: OAUTHBEARER",
    ),
    "jks-wrong-password": Misuse(
        "MTLS",
        _changed("mtls-jks", ssl_keystore_password=WRONG),
        2,
        r"line 7: ssl.keystore.location: .*client.jks: does not open with this password",
        None,
    ),
    "jks-trust-wrong-password": Misuse(
        "MTLS",
        _changed("mtls-jks", ssl_truststore_password=WRONG),
        2,
        r"line 4: ssl.truststore.location: .*trust.jks: does not open with this password",
        None,
    ),
    "pkcs12-wrong-password": Misuse(
        "MTLS",
        _changed("mtls-pkcs12", ssl_keystore_password=WRONG),
        2,
        r"line 7: ssl.keystore.location: .*client.p12: does not open with this password",
        None,
    ),
    "wrong-key-password": Misuse(
        "MTLS",
        _changed("mtls-encrypted", ssl_key_password=WRONG),
        2,
        r"line 6: ssl.keystore.location: .*private key that does not open with ssl.key.password",
        r"does not open with ssl.key.password",
    ),
    "truncated-trust": Misuse(
        "SSL",
        _truncated("ssl", "ssl.truststore.location"),
        2,
        r"line 4: .*the CERTIFICATE that begins in line 1 has no END",
        None,
    ),
    "truncated-key": Misuse(
        "MTLS",
        _truncated("mtls-encrypted", "ssl.keystore.location"),
        2,
        r"line 6: .*the ENCRYPTED PRIVATE KEY that begins in line 1 has no END",
        None,
    ),
    "no-store": Misuse(
        "SSL",
        _changed("ssl", ssl_truststore_location="/no/such.pem"),
        2,
        r"line 4: ssl.truststore.location: cannot read /no/such.pem: No such file",
        None,
    ),
    "token-endpoint-hangs": Misuse(
        "SASL_SSL", _by_client("hanging"), 1, r"OAUTHBEARER: no token in time", r"no response within"
    ),
    "token-endpoint-closed": Misuse(
        "SASL_SSL",
        _by_client("http://127.0.0.1:9/token"),
        1,
        r"token endpoint http://127.0.0.1:9/token: connection refused",
        r"Could not connect to server",
    ),
    "wrong-client-secret": Misuse(
        "SASL_SSL",
        _by_client(secret=WRONG),
        1,
        r"/token: HTTP 401, invalid_client: no such client, or a wrong secret",
        r"invalid_client",
    ),
    "expired-token": Misuse(
        "SASL_SSL",
        _expired_token,
        1,
        r"SASL authentication failed \(OAUTHBEARER\): .*; the token expired at 20",
        r"the token expired at 20",
    ),
    "unsigned-token": Misuse(
        "SASL_SSL", _unsigned_token, 1, r"SASL authentication failed \(OAUTHBEARER\): .*invalid_token", r"invalid_token"
    ),
    "no-tickets": Misuse("SASL_PLAINTEXT", _without_tickets, 1, r"GSSAPI: .*; run kinit to get a ticket", None),
}


def misuses_of(version: str) -> list[str]:
    """All of the newest; of others those where such a broker may answer otherwise. Without a KDC one is left out:
    it would be an error of another kind."""
    if version != MAIN:
        return list(OF_BROKERS)
    try:
        need_kerberos()
        kerberos = True
    except SandboxError:
        kerberos = False
    return [name for name in MISUSES if kerberos or name != "no-tickets"]


@contextmanager
def silent_server() -> Iterator[str]:
    """The address of one that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        yield f"{host}:{port}"
