"""Convert the settings to librdkafka's configuration properties."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kgroups.errors import AuthenticationFailed, ConfigError, KgroupsError

from .formats.ciphers import with_authentication
from .secret import MASK, Secret
from .security import ClientCredentials, Kerberos, Password, Sasl, Security, Tls
from .settings import ClientSettings
from .settings_reader import is_secret
from .token_callback import check_life, token_callback

Client = TypeVar("Client")


class Options(dict[str, Any]):
    """Properties for librdkafka; they contain passwords and keys, so ``repr`` shows only the names."""

    def __repr__(self) -> str:
        return f"Options({', '.join(self)})"

    def __or__(self, other: Mapping[str, Any]) -> Options:  # type: ignore[override]
        return Options({**self, **other})


def librdkafka_options(settings: ClientSettings) -> dict[str, Any]:
    """Return the properties that every librdkafka client needs to connect. The log is off; errors come as exceptions.

    :raises ConfigError: for settings that librdkafka does not support, such as GSSAPI (not in the Python wheels).
    :raises AuthenticationFailed: if the token has expired.
    """
    options = Options(
        {"bootstrap.servers": settings.bootstrap_servers, "client.id": settings.client_id, "log_level": 0}
    )
    if settings.security:
        options |= _security(settings.security, settings.bootstrap[0][0])
    return options


def make_client(client_class: Callable[[dict[str, Any]], Client], options: dict[str, Any]) -> Client:
    """Create a librdkafka client.

    The first token is fetched here: without one, librdkafka waits ten seconds and does not report the reason.

    :param client_class: a class of confluent_kafka.
    :raises ConfigError: if librdkafka rejects the settings.
    :raises AuthenticationFailed: if there is no token.
    """
    if get_token := options.get("oauth_cb"):
        try:
            get_token("")
        except KgroupsError:
            raise
        except Exception as error:  # AWS's library raises many types
            raise AuthenticationFailed(f"no token for OAUTHBEARER: {error}") from None
    try:
        return client_class(options)
    except Exception as error:  # a KafkaException, whose class config does not import
        message = error.args[0].str() if error.args and hasattr(error.args[0], "str") else type(error).__name__
        if "OAuth token not set" in message:
            raise AuthenticationFailed(f"OAUTHBEARER: {message}") from None
        raise ConfigError(f"librdkafka rejected these settings: {_masked(message, options)}") from None


def _masked(message: str, options: Mapping[str, Any]) -> str:
    """Mask secret values in a message of librdkafka."""
    for key, value in options.items():
        if is_secret(key) and value:
            message = message.replace(str(value), MASK)
    return message


def _security(security: Security, host: str) -> dict[str, Any]:
    options: dict[str, Any] = {"security.protocol": security.protocol}
    if security.tls:
        options |= _tls(security.tls)
    if security.sasl:
        options |= _sasl(security.sasl, host)
    return options


def _tls(tls: Tls) -> dict[str, Any]:
    """Return the TLS properties. librdkafka cannot select TLS versions: it uses OpenSSL's defaults."""
    options: dict[str, Any] = {
        "enable.ssl.certificate.verification": tls.verify,
        "ssl.endpoint.identification.algorithm": "https" if tls.check_name else "none",
    }
    if tls.authorities is not None:
        options["ssl.ca.pem"] = tls.authorities
    elif system := _system_authorities():
        options["ssl.ca.location"] = system
    if tls.certificate is not None:
        options["ssl.certificate.pem"] = tls.certificate
    _reveal(options, "ssl.key.pem", tls.key)
    _reveal(options, "ssl.key.password", tls.key_password)
    if tls.ciphers:
        options["ssl.cipher.suites"] = with_authentication(tls.ciphers)
    return options


def _system_authorities() -> str | None:
    """Return the system's certificate authorities; librdkafka's own OpenSSL looks in the path of its build machine."""
    paths = ssl.get_default_verify_paths()
    return paths.cafile or paths.capath


def _sasl(sasl: Sasl, host: str) -> dict[str, Any]:
    options: dict[str, Any] = {"sasl.mechanisms": sasl.mechanism}
    match sasl.credentials:
        case Password(username, password, token_auth):
            if token_auth:
                raise ConfigError("librdkafka does not support delegation tokens (tokenauth); use --transport wire")
            return options | {"sasl.username": username, "sasl.password": password.reveal()}
        case ClientCredentials() as client:
            return options | _oidc(client)
        case Kerberos():
            raise ConfigError("this build of librdkafka does not support GSSAPI; use --transport wire")
        case credentials:
            check_life(credentials)
            callback: Callable[[str], tuple[Any, ...]] = token_callback(credentials, host)
            return options | {"oauth_cb": callback}


def _oidc(client: ClientCredentials) -> dict[str, Any]:
    if client.assertion:
        raise ConfigError("assertions of OAuth clients require the wire client; use --transport wire")
    options: dict[str, Any] = {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": client.endpoint,
        "sasl.oauthbearer.client.id": client.client_id,
        "sasl.oauthbearer.client.secret": client.client_secret.reveal(),
    }
    if client.scope:
        options["sasl.oauthbearer.scope"] = client.scope
    if client.extensions:
        options["sasl.oauthbearer.extensions"] = ",".join(f"{key}={value}" for key, value in client.extensions.items())
    if client.tls and client.tls.authorities:
        options["https.ca.pem"] = client.tls.authorities
    elif client.endpoint.startswith("https:") and (system := _system_authorities()):
        options["https.ca.location"] = system
    return options


def _reveal(options: dict[str, Any], key: str, secret: Secret | None) -> None:
    if secret:
        options[key] = secret.reveal()
