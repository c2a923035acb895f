"""Which URLs tokens may come from.

A ``file:`` URL sends what a file of this machine holds to a broker: see CVE-2025-27817. Java's clients take only what
``org.apache.kafka.sasl.oauthbearer.allowed.urls`` names. Here a file that the user names is trusted, a program's
``properties`` are not; and where KGROUPS_OAUTHBEARER_ALLOWED_URLS is set, only its URLs are taken from anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from .jaas_line import JAAS
from .oauth import ENDPOINT
from .providers import PROGRAM
from .security import ClientCredentials, Sasl, TokenFile
from .settings_reader import SettingsReader

URLS_ENV = "KGROUPS_OAUTHBEARER_ALLOWED_URLS"


def check_token_url(sasl: Sasl, given: SettingsReader, environ: Mapping[str, str], trusted: bool | None) -> None:
    """
    :param trusted: whether a ``file:`` URL is followed; ``None``: not in a program's properties.
    :raises ConfigError: for a URL that may not be asked.
    """
    if not isinstance(sasl.credentials, TokenFile | ClientCredentials):
        return
    found = given.peek(ENDPOINT)
    setting = found if found and found.value.strip() else given.peek(JAAS)
    assert setting
    allowed = environ.get(URLS_ENV)
    if allowed is not None:
        if not any(_names(each.strip(), sasl.credentials) for each in allowed.split(",")):
            raise setting.wrong(f"names a token URL that is not in {URLS_ENV}")
    elif isinstance(sasl.credentials, TokenFile):
        follow = setting.origin != PROGRAM if trusted is None else trusted
        if not follow:
            raise setting.wrong(
                f"names a file: URL, which in properties of a program requires config_providers=True, or {URLS_ENV}"
            )


def _names(url: str, credentials: TokenFile | ClientCredentials) -> bool:
    if isinstance(credentials, ClientCredentials):
        return url == credentials.endpoint
    return url.startswith("file:") and unquote(urlsplit(url).path) == credentials.path
