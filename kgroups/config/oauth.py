"""Read the source of OAuth tokens from the settings of Java's clients, librdkafka, Strimzi, or kgroups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from .jaas_line import JaasLine, aws_of, missing_setting
from .properties import read_bounded
from .safe_text import describe_value
from .secret import Secret, SecretDict
from .security import Assertion, AwsIam, ClientCredentials, StaticToken, Tls, TokenFile, UnsecuredToken
from .settings_reader import Setting, SettingsReader, path_of_url
from .tls import FileCheck, Warn, tls_of
from .unsecured import unsecured_of

_ENCODE = "sasl.oauthbearer.header.urlencode"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
_HANDLER = "sasl.login.callback.handler.class"
_HANDLERS = (
    "OAuthBearerLoginCallbackHandler",
    "OAuthBearerUnsecuredLoginCallbackHandler",
    "IAMOAuthBearerLoginCallbackHandler",
    "JaasClientOauthLoginCallbackHandler",
)
_RETRIEVERS = ("DefaultJwtRetriever", "FileJwtRetriever", "ClientCredentialsJwtRetriever", "JwtBearerJwtRetriever")
_BEARER_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_ASSERTION = "sasl.oauthbearer.assertion."
_ALGORITHMS = ("RS256", "ES256")
_ID = ("sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.id")
_SECRET = ("sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.client.secret")

OAuth = StaticToken | TokenFile | ClientCredentials | UnsecuredToken | AwsIam


def oauth_of(settings: SettingsReader, line: JaasLine, warn: Warn, check_file: FileCheck) -> OAuth:
    """Read how to get a token.

    :raises ConfigError: if no source of tokens is configured, or its settings are incomplete or invalid.
    """
    handler = _class(settings, _HANDLER, _HANDLERS, "class that fetches the token")
    retriever = _class(settings, "sasl.oauthbearer.jwt.retriever.class", _RETRIEVERS, "class that fetches the token")
    if handler == "IAMOAuthBearerLoginCallbackHandler":
        return aws_of(settings, line)
    extensions = _extensions(settings, line)
    static = settings.take("sasl.oauthbearer.token", means="the token", secret=True)
    static = static or line.options.take("oauth.access.token", means="the token", secret=True)
    if static:
        return StaticToken(static.secret, extensions)
    endpoint = settings.take(ENDPOINT, means="source of tokens")
    endpoint = endpoint or line.options.take("oauth.token.endpoint.uri", means="source of tokens")
    if endpoint is None or not endpoint.value.strip():
        unsecured = unsecured_of(settings, line, extensions)
        if unsecured is None:
            raise missing_setting(
                settings, line, "OAUTHBEARER", "a source of tokens", f"{ENDPOINT} or sasl.oauthbearer.token"
            )
        return unsecured
    if endpoint.value.strip().startswith("file:"):
        return _token_file(endpoint, extensions, check_file)
    bearer = retriever == "JwtBearerJwtRetriever" or _grant(settings) == _BEARER_GRANT
    return _client(settings, line, endpoint, extensions, warn, check_file, bearer=bearer)


def _client(
    settings: SettingsReader,
    line: JaasLine,
    endpoint: Setting,
    extensions: Mapping[str, str],
    warn: Warn,
    check_file: FileCheck,
    *,
    bearer: bool,
) -> ClientCredentials:
    url = endpoint.value.strip()
    if not _is_address(url):
        raise endpoint.error("must be an https://, http://, or file: URL")
    options = line.options
    assertion = _assertion(settings, line, check_file, required=bearer)
    name = settings.take(*_ID, means="client ID at the endpoint") or options.take(
        "clientId", "oauth.client.id", means="client ID at the endpoint"
    )
    means = "client secret at the endpoint"
    secret = settings.take(*_SECRET, means=means, secret=True)
    secret = secret or options.take("clientSecret", "oauth.client.secret", means=means, secret=True)
    if not assertion and (name is None or secret is None or not name.value):
        raise missing_setting(
            settings, line, "OAUTHBEARER", "a client's id and its secret, or an assertion",
            f"{' and '.join((_ID[0], _SECRET[0]))}, or {_ASSERTION}claim.iss or {_ASSERTION}file",
        )  # fmt: skip
    scope = settings.text("sasl.oauthbearer.scope", means="requested scope")
    connect_timeout = settings.seconds(
        "sasl.login.connect.timeout.ms", means="time limit for connecting to the endpoint"
    )
    read_timeout = settings.seconds("sasl.login.read.timeout.ms", means="time limit for the endpoint's response")
    encode = settings.flag(_ENCODE, default=False, means="URL-encode client ID and secret in the header")
    method = settings.text("sasl.oauthbearer.method", means="method of fetching tokens")
    if method and method.lower() not in ("oidc", "default"):
        raise endpoint.error("requires sasl.oauthbearer.method=oidc")
    return ClientCredentials(
        url,
        name.value if name else "",
        secret.secret if secret and not assertion else Secret(""),
        scope or options.text("scope", "oauth.scope", means="requested scope"),
        extensions,
        _endpoint_tls(settings, line, warn, check_file),
        max(filter(None, (connect_timeout, read_timeout)), default=ClientCredentials._field_defaults["timeout"]),
        encode,
        assertion,
        bearer,
    )


def _grant(settings: SettingsReader) -> str:
    """Return the grant of librdkafka's settings.

    :raises ConfigError: if it is not supported.
    """
    found = settings.take("sasl.oauthbearer.grant.type", means="method of fetching tokens")
    grant = found.value.strip() if found else ""
    if found and grant not in ("", "client_credentials", _BEARER_GRANT):
        raise found.error(f"is not supported; use client_credentials or {_BEARER_GRANT}")
    return grant


def _assertion(settings: SettingsReader, line: JaasLine, check_file: FileCheck, *, required: bool) -> Assertion | None:
    """Read the assertion; ``None`` if there is none.

    As in Java, a file, or the claim ``iss``, takes precedence over a client secret.

    :param required: whether the token is requested with it, so that ``iss`` may be in its template.
    :raises ConfigError: if it is incomplete or invalid, or a file is missing.
    """
    means = "assertion of the OAuth client (RFC 7523)"
    file = settings.text(f"{_ASSERTION}file", means=means)
    if file:
        _check(settings, f"{_ASSERTION}file", check_file)
        return Assertion(file)
    if not required and settings.peek(f"{_ASSERTION}claim.iss") is None:
        return None
    claims = {
        name: value
        for name in ("aud", "iss", "sub")
        if (value := settings.text(f"{_ASSERTION}claim.{name}", means=means))
    }
    key_file = settings.text(f"{_ASSERTION}private.key.file", means="key that signs the assertion")
    if not key_file:
        raise missing_setting(
            settings, line, "OAUTHBEARER", "an assertion", f"{_ASSERTION}private.key.file or {_ASSERTION}file"
        )
    _check(settings, f"{_ASSERTION}private.key.file", check_file)
    templates = (f"{_ASSERTION}template.file", f"{_ASSERTION}jwt.template.file")
    algorithm = settings.take(f"{_ASSERTION}algorithm", means=means)
    name = algorithm.value.strip().upper() if algorithm else _ALGORITHMS[0]
    if algorithm and name not in _ALGORITHMS:
        raise algorithm.error(f"{describe_value(algorithm.value, _ALGORITHMS)}; use one of {', '.join(_ALGORITHMS)}")
    return Assertion(
        None,
        key_file,
        settings.secret(f"{_ASSERTION}private.key.passphrase", means="passphrase of the key"),
        name,
        claims,
        settings.text(*templates, means=means),
        _seconds(settings, "claim.exp.seconds", Assertion._field_defaults["expires"]),
        _seconds(settings, "claim.nbf.seconds", Assertion._field_defaults["valid_before"]),
        settings.flag(f"{_ASSERTION}claim.jti.include", default=False, means=means),
    )


def _check(settings: SettingsReader, key: str, check_file: FileCheck) -> None:
    """Check a file of the assertion, which is a secret."""
    setting = settings.peek(key)
    assert setting
    read_bounded(Path(setting.value.strip()), setting.place)
    check_file(Path(setting.value.strip()), setting.place)


def _seconds(settings: SettingsReader, key: str, default: int) -> int:
    found = settings.take(_ASSERTION + key, means="validity of the assertion")
    if found is None or not found.value.strip():
        return default
    if not re.fullmatch("[0-9]{1,5}", found.value.strip()):
        raise found.error("must be a number of seconds")
    return int(found.value)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port, or an invalid address in brackets
        return False


def _endpoint_tls(settings: SettingsReader, line: JaasLine, warn: Warn, check_file: FileCheck) -> Tls | None:
    """Read the TLS settings of the token endpoint; ``None`` for the system's authorities.

    Java and Strimzi have them in the JAAS entry, Strimzi with the prefix ``oauth.``; librdkafka has ``https.ca.*``.
    """
    location = settings.take("https.ca.location", means="certificate authorities trusted for the endpoint")
    inline = settings.take("https.ca.pem", means="certificate authorities trusted for the endpoint")
    librdkafka = [each._replace(key=each.key.replace("https.", "ssl.", 1)) for each in (location, inline) if each]
    jaas = [
        each._replace(key=each.key.removeprefix("oauth."), written=each.key)
        for each in line.options
        if each.key.startswith(("ssl.", "oauth.ssl."))
    ]
    if not librdkafka and not jaas:
        return None
    for prefix in ("ssl.", "oauth.ssl."):
        line.options.take_all(prefix, means="TLS to the endpoint")
    return tls_of(
        SettingsReader((*librdkafka, *jaas)), lambda text: warn(f"TLS to the token endpoint: {text}"), check_file
    )


def _token_file(endpoint: Setting, extensions: Mapping[str, str], check_file: FileCheck) -> TokenFile:
    path = path_of_url(endpoint)
    read_bounded(Path(path), endpoint.place)
    check_file(Path(path), endpoint.place)
    return TokenFile(path, extensions)


def _extensions(settings: SettingsReader, line: JaasLine) -> dict[str, str]:
    means = "SASL extensions (KIP-342)"
    found = SecretDict()
    for prefix in ("extension_", "unsecuredLoginExtension_"):
        for key, setting in line.options.take_all(prefix, means=means, secret=True).items():
            found[key] = setting.value
    listed = settings.take("sasl.oauthbearer.extensions", means=means)
    for pair in (listed.value if listed else "").split(","):
        key, equals, value = pair.strip().partition("=")
        if listed and pair.strip() and not (equals and key):
            raise listed.error("is not NAME=VALUE,...")
        if key:
            found[key] = value
    return found


def _class(settings: SettingsReader, key: str, known: tuple[str, ...], means: str) -> str | None:
    """Return the name of a Java class without its package, which differs between Kafka versions.

    :raises ConfigError: if the class is not one of ``known``.
    """
    found = settings.take(key, means=means)
    if found is None or not found.value.strip():
        return None
    short = found.value.strip().rpartition(".")[2]
    if short not in known:
        raise found.error(f"names an unsupported class; supported: {', '.join(known)}")
    return short
