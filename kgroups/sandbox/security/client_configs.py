"""The authentication methods of clients: a Java ``client.properties`` for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from .certificates import Certificates
from .kerberos import SERVICE, Kerberos
from .listeners import LISTENERS, quoted
from .stores import Stores
from .tokens import Tokens
from .users import AWKWARD, OPERATOR

Settings = dict[str, str]
_SASL: Final = ("SASL_SSL", "SASL_PLAINTEXT")
_MODULES: Final = "org.apache.kafka.common.security"
_FROM_ENDPOINT: Final = f"{_MODULES}.oauthbearer.OAuthBearerLoginCallbackHandler"


class Way(NamedTuple):
    """An authentication method, with the settings of its clients."""

    name: str
    listener: str
    settings: Settings
    """Without ``bootstrap.servers``."""


class Means(NamedTuple):
    """The credentials of clients."""

    certificates: Certificates
    stores: Stores
    users: Mapping[str, str]
    tokens: Tokens | None
    kerberos: Kerberos | None


def ways(means: Means) -> Iterator[Way]:
    """Yield every authentication method, with the operator's credentials."""
    yield from _by_tls(means)
    for listener in _SASL:
        protocol = protocol_of(listener, means.certificates)
        for name, mechanism, login in _logins(means):
            yield _sasl(f"{_dashed(listener)}-{name}", listener, protocol, mechanism, login)
    for listener in ("UNSECURED_SSL", "UNSECURED"):
        name = f"{_dashed(LISTENERS[listener])}-oauthbearer-unsecured"
        yield _sasl(name, listener, protocol_of(listener, means.certificates), "OAUTHBEARER", unsecured(OPERATOR))


def protocol_of(listener: str, certificates: Certificates) -> Settings:
    """Return the settings that every client of a listener needs."""
    settings = {"security.protocol": LISTENERS[listener]}
    if LISTENERS[listener].endswith("SSL"):
        settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(certificates.authority)}
    return settings


def by_password(mechanism: str, user: str, password: str) -> Settings:
    """Return the settings for PLAIN, SCRAM-SHA-256, or SCRAM-SHA-512."""
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    login = f"{_MODULES}.{module} required username={quoted(user)} password={quoted(password)};"
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": login}


def by_client(endpoint: str, client: str, secret: str) -> Settings:
    """Return the settings for OAUTHBEARER with client credentials (KIP-768)."""
    options = f"clientId={quoted(client)} clientSecret={quoted(secret)} scope={quoted('kafka')}"
    return {
        **_bearer(options),
        "sasl.login.callback.handler.class": _FROM_ENDPOINT,
        "sasl.oauthbearer.token.endpoint.url": endpoint,
    }


def unsecured(user: str) -> Settings:
    """Return the settings for OAUTHBEARER with an unsigned token."""
    return _bearer(f"unsecuredLoginStringClaim_sub={quoted(user)}")


def _bearer(options: str) -> Settings:
    module = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required {options}"
    return {"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": f"{module.strip()};"}


def _sasl(name: str, listener: str, protocol: Settings, mechanism: str, login: Settings) -> Way:
    assert login["sasl.mechanism"] == mechanism
    return Way(name, listener, {**protocol, **login})


def _logins(means: Means) -> Iterator[tuple[str, str, Settings]]:
    """Yield name, mechanism, and settings of each SASL method."""
    for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"):
        yield mechanism.lower(), mechanism, by_password(mechanism, OPERATOR, means.users[OPERATOR])
    for mechanism in ("PLAIN", "SCRAM-SHA-512"):
        yield f"{mechanism.lower()}-awkward", mechanism, by_password(mechanism, AWKWARD, means.users[AWKWARD])
    if tokens := means.tokens:
        yield "oauthbearer", "OAUTHBEARER", by_client(tokens.endpoint, OPERATOR, tokens.clients[OPERATOR])
        from_file = {
            **_bearer(""),
            "sasl.login.callback.handler.class": _FROM_ENDPOINT,
            "sasl.oauthbearer.token.endpoint.url": tokens.file.as_uri(),
        }
        yield "oauthbearer-token", "OAUTHBEARER", from_file
    if kerberos := means.kerberos:
        keytab = f"useKeyTab=true storeKey=true keyTab={quoted(str(kerberos.user_keytab))}"
        yield "gssapi", "GSSAPI", _kerberos(f"{keytab} principal={quoted(kerberos.user_principal)}")
        cache = f"useTicketCache=true ticketCache={quoted(str(kerberos.tickets))}"
        yield "gssapi-tickets", "GSSAPI", _kerberos(cache)


def _kerberos(options: str) -> Settings:
    login = f"com.sun.security.auth.module.Krb5LoginModule required {options};"
    return {"sasl.mechanism": "GSSAPI", "sasl.kerberos.service.name": SERVICE, "sasl.jaas.config": login}


def _by_tls(means: Means) -> Iterator[Way]:
    certificates, stores = means.certificates, means.stores
    pem = protocol_of("SSL", certificates)
    yield Way("ssl", "SSL", pem)
    jks = {"ssl.truststore.location": str(stores.trust_jks), "ssl.truststore.password": stores.password}
    yield Way("ssl-jks", "SSL", {"security.protocol": "SSL", **jks})
    for kind, trust, store in (("JKS", stores.trust_jks, stores.jks), ("PKCS12", stores.trust_pkcs12, stores.pkcs12)):
        settings = {"security.protocol": "SSL"}
        for what, path in (("truststore", trust), ("keystore", store)):
            settings |= {f"ssl.{what}.type": kind, f"ssl.{what}.location": str(path)}
            settings[f"ssl.{what}.password"] = stores.password
        settings["ssl.key.password"] = stores.password
        yield Way(f"mtls-{kind.lower()}", "MTLS", settings)
    for name, key in (("mtls", certificates.client.key), ("mtls-encrypted", certificates.encrypted_key)):
        password = {"ssl.key.password": certificates.key_password} if name == "mtls-encrypted" else {}
        whole = _whole_store(certificates.folder / f"{name}-store.pem", key, certificates.client.certificate)
        yield Way(name, "MTLS", {**pem, "ssl.keystore.type": "PEM", "ssl.keystore.location": str(whole), **password})
    inline = {
        "ssl.truststore.certificates": certificates.authority.read_text(),
        "ssl.keystore.certificate.chain": certificates.client.certificate.read_text(),
        "ssl.keystore.key": certificates.encrypted_key.read_text(),
    }
    types = {"ssl.truststore.type": "PEM", "ssl.keystore.type": "PEM"}
    password = {"ssl.key.password": certificates.key_password}
    yield Way("mtls-inline", "MTLS", {"security.protocol": "SSL", **types, **inline, **password})


def _whole_store(path: Path, key: Path, chain: Path) -> Path:
    """Write a PEM store for Kafka's clients, with key and chain in one file, and return its path."""
    path.touch(mode=0o600)
    path.write_text(key.read_text() + chain.read_text())
    return path


def _dashed(protocol: str) -> str:
    return protocol.lower().replace("_", "-")
