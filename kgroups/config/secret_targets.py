"""Check where secrets go: which are sent unencrypted, and which URLs tokens may come from.

A ``file:`` URL sends the contents of a local file to a broker: see CVE-2025-27817. Java's clients allow only the URLs
in ``org.apache.kafka.sasl.oauthbearer.allowed.urls``. kgroups trusts files that the user names, but not a program's
``properties``; if KGROUPS_OAUTHBEARER_ALLOWED_URLS is set, only its URLs are allowed, whatever their source.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from .jaas_line import JAAS
from .oauth import ENDPOINT
from .providers import PROGRAM
from .security import ClientCredentials, Mechanism, Sasl, Security, TokenFile, UnsecuredToken
from .settings import Transport
from .settings_reader import Setting, SettingsReader

_ASSERTION_FILES = tuple(
    f"sasl.oauthbearer.assertion.{name}" for name in ("file", "private.key.file", "template.file", "jwt.template.file")
)
URLS_ENV = "KGROUPS_OAUTHBEARER_ALLOWED_URLS"


def check_token_url(sasl: Sasl, settings: SettingsReader, environ: Mapping[str, str], trusted: bool | None) -> None:
    """Check that the URL of the token is allowed.

    :param trusted: whether to allow ``file:`` URLs; ``None``: everywhere except in a program's properties.
    :raises ConfigError: if it is not allowed.
    """
    if not isinstance(sasl.credentials, TokenFile | ClientCredentials):
        return
    found = settings.peek(ENDPOINT)
    setting = found if found and found.value.strip() else settings.peek(JAAS)
    assert setting
    for each in settings:
        if each.key in _ASSERTION_FILES and not _is_trusted(each, trusted):
            raise each.error("names a file, which in properties of a program requires config_providers=True")
    allowed = environ.get(URLS_ENV)
    if allowed is not None:
        if not any(_matches(each.strip(), sasl.credentials) for each in allowed.split(",")):
            raise setting.error(f"names a token URL that is not in {URLS_ENV}")
    elif isinstance(sasl.credentials, TokenFile) and not _is_trusted(setting, trusted):
        raise setting.error(f"is a file: URL; properties passed by a program need config_providers=True, or {URLS_ENV}")


def _is_trusted(setting: Setting, trusted: bool | None) -> bool:
    return setting.origin != PROGRAM if trusted is None else trusted


def _matches(url: str, credentials: TokenFile | ClientCredentials) -> bool:
    if isinstance(credentials, ClientCredentials):
        return url == credentials.endpoint
    return url.startswith("file:") and unquote(urlsplit(url).path) == credentials.path


def cleartext_warnings(security: Security, bootstrap: Sequence[tuple[str, int]], transport: Transport) -> Iterator[str]:
    """Yield a warning for each secret that is sent unencrypted to another machine."""
    if security.sasl is None:
        return
    plain = {Mechanism.PLAIN: "the password", Mechanism.OAUTHBEARER: "the token"}
    what = plain.get(Mechanism(security.sasl.mechanism)) if security.sasl.mechanism in set(Mechanism) else None
    secret = what and not isinstance(security.sasl.credentials, UnsecuredToken)
    if secret and security.tls is None and not all(_is_loopback(host) for host, _ in bootstrap):
        yield f"security.protocol is SASL_PLAINTEXT: {what} goes over the network unencrypted; use SASL_SSL"
    weak = transport is Transport.LIBRDKAFKA and security.sasl.mechanism.startswith("SCRAM-")
    if weak and security.tls is None and not all(_is_loopback(host) for host, _ in bootstrap):
        yield (
            "security.protocol is SASL_PLAINTEXT: librdkafka accepts any number of SCRAM iterations, so that a false "
            "broker can guess the password sooner; use SASL_SSL, or --transport wire"
        )
    credentials = security.sasl.credentials
    if isinstance(credentials, ClientCredentials) and credentials.endpoint.casefold().startswith("http:"):
        host = urlsplit(credentials.endpoint).hostname or ""
        if not _is_loopback(host):
            yield "the token endpoint is an http:// URL: the client secret goes over the network unencrypted"


def _is_loopback(host: str) -> bool:
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
