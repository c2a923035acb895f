"""The settings in librdkafka's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from kgroups.errors import AuthenticationFailed, ConfigError, KgroupsError

from .secret import MASK
from .settings import ClientSettings
from .settings_reader import is_secret

if TYPE_CHECKING:
    from .secret import Secret
    from .security import ClientCredentials, Sasl, Security, Tls

Client = TypeVar("Client")


class Options(dict[str, Any]):
    """What librdkafka is told, passwords and keys among it: nothing of it is in its ``repr``."""

    def __repr__(self) -> str:
        return f"Options({', '.join(self)})"

    def __or__(self, other: Mapping[str, Any]) -> Options:  # type: ignore[override]
        return Options({**self, **other})


def librdkafka_options(settings: ClientSettings) -> dict[str, Any]:
    """What every client of librdkafka needs to reach the cluster. Its own log stays silent: errors come as such.

    :raises ConfigError: for GSSAPI, which the builds that Python gets do not have.
    :raises AuthenticationFailed: for a token whose life is over.
    """
    options = Options(
        {"bootstrap.servers": settings.bootstrap_servers, "client.id": settings.client_id, "log_level": 0}
    )
    if settings.security:
        options |= _security(settings.security, settings.bootstrap[0][0])
    return options


def made_client(kind: Callable[[dict[str, Any]], Client], options: dict[str, Any]) -> Client:
    """A client of librdkafka's, of a class of confluent_kafka.

    The first token is asked for here: librdkafka would wait ten seconds for one that does not come, and not say why.

    :raises ConfigError: for settings that librdkafka does not take.
    :raises AuthenticationFailed: when there is no token.
    """
    if get_token := options.get("oauth_cb"):
        try:
            get_token("")
        except KgroupsError:
            raise
        except Exception as error:  # AWS's library has many
            raise AuthenticationFailed(f"no token for OAUTHBEARER: {error}") from None
    try:
        return kind(options)
    except Exception as error:  # a KafkaException, whose class is not for this room
        told = error.args[0].str() if error.args and hasattr(error.args[0], "str") else type(error).__name__
        if "OAuth token not set" in told:
            raise AuthenticationFailed(f"OAUTHBEARER: {told}") from None
        raise ConfigError(f"librdkafka rejected these settings: {_masked(told, options)}") from None


def _masked(told: str, options: Mapping[str, Any]) -> str:
    """Librdkafka's words, which may repeat a value, without those that are secret."""
    for key, value in options.items():
        if is_secret(key) and value:
            told = told.replace(str(value), MASK)
    return told


def _security(security: Security, host: str) -> dict[str, Any]:
    options: dict[str, Any] = {"security.protocol": security.protocol}
    if security.tls:
        options |= _tls(security.tls)
    if security.sasl:
        options |= _sasl(security.sasl, host)
    return options


def _tls(tls: Tls) -> dict[str, Any]:
    """Versions of TLS cannot be chosen there: it takes what OpenSSL takes for safe."""
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
        from .formats.ciphers import with_authentication

        options["ssl.cipher.suites"] = with_authentication(tls.ciphers)
    return options


def _system_authorities() -> str | None:
    """Where the system keeps them, as Python's ssl knows it: librdkafka's own OpenSSL looks where it was built."""
    import ssl

    paths = ssl.get_default_verify_paths()
    return paths.cafile or paths.capath


def _sasl(sasl: Sasl, host: str) -> dict[str, Any]:
    from .security import ClientCredentials, Kerberos, Password

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
            from .token_callback import check_life, token_callback

            check_life(credentials)
            called: Callable[[str], tuple[Any, ...]] = token_callback(credentials, host)
            return options | {"oauth_cb": called}


def _oidc(client: ClientCredentials) -> dict[str, Any]:
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
