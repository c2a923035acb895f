"""The listeners of a secure sandbox's brokers, and their server settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ..versions import KafkaVersion
from .certificates import Certificates, Pair
from .kerberos import SERVICE, Kerberos
from .stores import to_pkcs12
from .token_server import AUDIENCE, ISSUER
from .tokens import Tokens

LISTENERS: Final[Mapping[str, str]] = {
    "SSL": "SSL",
    "MTLS": "SSL",
    "SASL_SSL": "SASL_SSL",
    "SASL_PLAINTEXT": "SASL_PLAINTEXT",
    "UNSECURED_SSL": "SASL_SSL",
    "UNSECURED": "SASL_PLAINTEXT",
    "REAUTH": "SASL_PLAINTEXT",
    "EXPIRED": "SSL",
    "WRONG_NAME": "SSL",
    "SELF_SIGNED": "SSL",
}
"""Name -> security protocol. ``MTLS`` requires a client certificate; the two ``UNSECURED`` listeners accept unsigned
OAUTHBEARER tokens; ``REAUTH`` requires re-authentication after some seconds (KIP-368); the last three have certificates
that clients must reject."""

SESSION: Final = 4.0
"""Session lifetime on ``REAUTH``, in seconds."""

_PASSWORDS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_MODULES: Final = "org.apache.kafka.common.security"
_VALIDATOR: Final = f"{_MODULES}.oauthbearer.OAuthBearerValidatorCallbackHandler"


class Around(NamedTuple):
    """The prerequisites of the listeners."""

    certificates: Certificates
    store_password: str
    users: Mapping[str, str]
    """Name -> password, for PLAIN."""
    tokens: Tokens | None
    """``None`` if this version of Kafka cannot validate signed tokens."""
    kerberos: Kerberos | None


def validates_tokens(version: KafkaVersion) -> bool:
    """Return whether its brokers can validate signed tokens (KIP-768, Kafka 3.1)."""
    return not version.zookeeper


def mechanisms(listener: str, *, tokens: bool, kerberos: bool) -> tuple[str, ...]:
    """Return the mechanisms of a listener; none if it is not a SASL listener."""
    if not LISTENERS[listener].startswith("SASL"):
        return ()
    if listener.startswith("UNSECURED"):
        return ("OAUTHBEARER",)
    bearer = ("OAUTHBEARER",) if tokens or listener == "REAUTH" else ()
    return (*_PASSWORDS, *bearer, *(("GSSAPI",) if kerberos else ()))


def listener_properties(around: Around) -> dict[str, str]:
    """Return the server settings of all listeners."""
    settings = dict(_tls(around))
    if around.kerberos:
        settings["sasl.kerberos.service.name"] = SERVICE  # brokers ignore it as a setting of a mechanism
    for listener in LISTENERS:
        offered = mechanisms(listener, tokens=around.tokens is not None, kerberos=around.kerberos is not None)
        prefix = f"listener.name.{listener.lower()}."
        if offered:
            settings[f"{prefix}sasl.enabled.mechanisms"] = ",".join(offered)
        for mechanism in offered:
            settings |= {f"{prefix}{mechanism.lower()}.{key}": value for key, value in _login(mechanism, around)}
            if mechanism == "OAUTHBEARER" and not listener.startswith(("UNSECURED", "REAUTH")):
                settings |= {f"{prefix}oauthbearer.{key}": value for key, value in _validation(around)}
            if listener == "REAUTH":
                settings[f"{prefix}{mechanism.lower()}.connections.max.reauth.ms"] = str(int(SESSION * 1000))
    return settings


def _tls(around: Around) -> Iterator[tuple[str, str]]:
    certificates = around.certificates
    yield "ssl.truststore.type", "PEM"
    yield "ssl.truststore.location", str(certificates.authority)
    yield "ssl.principal.mapping.rules", "RULE:^CN=([^,]+).*$/$1/,DEFAULT"
    yield from _keystore("", certificates.server, around.store_password)
    yield "listener.name.mtls.ssl.client.auth", "required"
    for name in ("expired", "wrong_name", "self_signed"):
        yield from _keystore(f"listener.name.{name}.", getattr(certificates, name), around.store_password)


def _keystore(prefix: str, pair: Pair, password: str) -> Iterator[tuple[str, str]]:
    yield f"{prefix}ssl.keystore.type", "PKCS12"
    yield f"{prefix}ssl.keystore.location", str(to_pkcs12(pair, password))
    yield f"{prefix}ssl.keystore.password", password
    yield f"{prefix}ssl.key.password", password


def _login(mechanism: str, around: Around) -> Iterator[tuple[str, str]]:
    match mechanism:
        case "PLAIN":
            users = " ".join(f"user_{name}={quoted(password)}" for name, password in around.users.items())
            yield "sasl.jaas.config", f"{_MODULES}.plain.PlainLoginModule required {users};"
        case "OAUTHBEARER":
            yield "sasl.jaas.config", f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required;"
        case "GSSAPI":
            assert around.kerberos
            principal, keytab = around.kerberos.service_principal, around.kerberos.service_keytab
            options = f"useKeyTab=true storeKey=true keyTab={quoted(str(keytab))} principal={quoted(principal)}"
            yield "sasl.jaas.config", f"com.sun.security.auth.module.Krb5LoginModule required {options};"
        case _:
            yield "sasl.jaas.config", f"{_MODULES}.scram.ScramLoginModule required;"


def _validation(around: Around) -> Iterator[tuple[str, str]]:
    assert around.tokens
    yield "sasl.server.callback.handler.class", _VALIDATOR
    yield "sasl.oauthbearer.jwks.endpoint.url", around.tokens.keys
    yield "sasl.oauthbearer.expected.audience", AUDIENCE
    yield "sasl.oauthbearer.expected.issuer", ISSUER


def quoted(text: str) -> str:
    """Quote a value of a JAAS entry."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
