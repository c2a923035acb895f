"""Where tokens come from, of settings in the words of Java's clients, librdkafka's, Strimzi's or ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from .jaas_line import JaasLine, aws_of, needs
from .properties import read_bounded
from .secret import Veiled
from .security import AwsIam, ClientCredentials, StaticToken, Tls, TokenFile, UnsecuredToken
from .settings_reader import Setting, SettingsReader, path_of_url
from .tls import FileNote, Remark, tls_of

_ENCODE = "sasl.oauthbearer.header.urlencode"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
_HANDLER = "sasl.login.callback.handler.class"
_HANDLERS = (
    "OAuthBearerLoginCallbackHandler",
    "OAuthBearerUnsecuredLoginCallbackHandler",
    "IAMOAuthBearerLoginCallbackHandler",
    "JaasClientOauthLoginCallbackHandler",
)
_RETRIEVERS = ("DefaultJwtRetriever", "FileJwtRetriever", "ClientCredentialsJwtRetriever")
_ID = ("sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.id")
_SECRET = ("sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.client.secret")
_QUIET = ("sasl.oauthbearer.jwks", "sasl.oauthbearer.expected", "sasl.oauthbearer.clock.skew", "sasl.oauthbearer.jwt.",
          "sasl.oauthbearer.sub.claim", "sasl.oauthbearer.scope.claim")  # fmt: skip

OAuth = StaticToken | TokenFile | ClientCredentials | UnsecuredToken | AwsIam


def oauth_of(given: SettingsReader, line: JaasLine, remark: Remark, note: FileNote) -> OAuth:
    """
    :raises ConfigError: when nothing says where a token comes from, or half of it.
    """
    handler = _class(given, _HANDLER, _HANDLERS, "class that fetches the token")
    _class(given, "sasl.oauthbearer.jwt.retriever.class", _RETRIEVERS, "class that fetches the token")
    if handler == "IAMOAuthBearerLoginCallbackHandler":
        return aws_of(given, line)
    extensions = _extensions(given, line)
    static = given.take("sasl.oauthbearer.token", means="the token", secret=True)
    static = static or line.given.take("oauth.access.token", means="the token", secret=True)
    if static:
        return StaticToken(static.secret, extensions)
    endpoint = given.take(ENDPOINT, means="source of tokens")
    endpoint = endpoint or line.given.take("oauth.token.endpoint.uri", means="source of tokens")
    if endpoint is None or not endpoint.value.strip():
        from .unsecured import unsecured_of

        unsecured = unsecured_of(given, line, extensions)
        if unsecured is None:
            raise needs(given, line, "OAUTHBEARER", "a source of tokens", f"{ENDPOINT} or sasl.oauthbearer.token")
        return unsecured
    for prefix in _QUIET:
        given.take_all(prefix, means="login of Java; no effect here")
    if endpoint.value.strip().startswith("file:"):
        return _token_file(endpoint, extensions, note)
    return _client(given, line, endpoint, extensions, remark, note)


def _client(
    given: SettingsReader,
    line: JaasLine,
    endpoint: Setting,
    extensions: Mapping[str, str],
    remark: Remark,
    note: FileNote,
) -> ClientCredentials:
    url = endpoint.value.strip()
    if not _is_address(url):
        raise endpoint.wrong("must be an https://, http://, or file: URL")
    options = line.given
    name = given.take(*_ID, means="client ID at the endpoint") or options.take(
        "clientId", "oauth.client.id", means="client ID at the endpoint"
    )
    means = "client secret at the endpoint"
    word = given.take(*_SECRET, means=means, secret=True)
    word = word or options.take("clientSecret", "oauth.client.secret", means=means, secret=True)
    if name is None or word is None or not name.value:
        raise needs(given, line, "OAUTHBEARER", "a client's id and its secret", " and ".join((_ID[0], _SECRET[0])))
    scope = given.text("sasl.oauthbearer.scope", means="requested scope")
    connect = given.seconds("sasl.login.connect.timeout.ms", means="time limit for connecting to the endpoint")
    read = given.seconds("sasl.login.read.timeout.ms", means="time limit for the endpoint's response")
    encode = given.flag(_ENCODE, otherwise=False, means="URL-encode client ID and secret in the header")
    method = given.text("sasl.oauthbearer.method", means="method of fetching tokens")
    if method and method.lower() not in ("oidc", "default"):
        raise endpoint.wrong("requires sasl.oauthbearer.method=oidc")
    grant = given.peek("sasl.oauthbearer.grant.type")
    if grant and grant.value.strip() not in ("", "client_credentials"):
        raise grant.wrong("is not supported; use client_credentials")
    given.take("sasl.oauthbearer.grant.type", means="method of fetching tokens")
    return ClientCredentials(
        url,
        name.value,
        word.secret,
        scope or options.text("scope", "oauth.scope", means="requested scope"),
        extensions,
        _endpoint_tls(given, line, remark, note),
        max(filter(None, (connect, read)), default=ClientCredentials._field_defaults["timeout"]),
        encode,
    )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port, or an address in brackets, that is none
        return False


def _endpoint_tls(given: SettingsReader, line: JaasLine, remark: Remark, note: FileNote) -> Tls | None:
    """Java takes it of the JAAS line's options, Strimzi with ``oauth.`` before them, librdkafka of https.ca.*."""
    location = given.take("https.ca.location", means="certificate authorities trusted for the endpoint")
    inline = given.take("https.ca.pem", means="certificate authorities trusted for the endpoint")
    theirs = [each._replace(key=each.key.replace("https.", "ssl.", 1)) for each in (location, inline) if each]
    own = [
        each._replace(key=each.key.removeprefix("oauth."), written=each.key)
        for each in line.given
        if each.key.startswith(("ssl.", "oauth.ssl."))
    ]
    if not theirs and not own:
        return None
    for prefix in ("ssl.", "oauth.ssl."):
        line.given.take_all(prefix, means="TLS to the endpoint")
    return tls_of(SettingsReader((*theirs, *own)), lambda text: remark(f"TLS to the token endpoint: {text}"), note)


def _token_file(endpoint: Setting, extensions: Mapping[str, str], note: FileNote) -> TokenFile:
    path = path_of_url(endpoint)
    read_bounded(Path(path), endpoint.place)
    note(Path(path), endpoint.place)
    return TokenFile(path, extensions)


def _extensions(given: SettingsReader, line: JaasLine) -> dict[str, str]:
    means = "SASL extensions (KIP-342)"
    found = Veiled()
    for prefix in ("extension_", "unsecuredLoginExtension_"):
        for key, setting in line.given.take_all(prefix, means=means, secret=True).items():
            found[key] = setting.value
    theirs = given.take("sasl.oauthbearer.extensions", means=means)
    for pair in (theirs.value if theirs else "").split(","):
        key, equals, value = pair.strip().partition("=")
        if theirs and pair.strip() and not (equals and key):
            raise theirs.wrong("is not NAME=VALUE,...")
        if key:
            found[key] = value
    return found


def _class(given: SettingsReader, key: str, known: tuple[str, ...], means: str) -> str | None:
    """A Java class by the last part of its name; its package changed over the years.

    :raises ConfigError: for one that does what we cannot know.
    """
    found = given.take(key, means=means)
    if found is None or not found.value.strip():
        return None
    short = found.value.strip().rpartition(".")[2]
    if short not in known:
        raise found.wrong(f"names an unsupported class; supported: {', '.join(known)}")
    return short
