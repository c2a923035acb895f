"""Precedence: the overrides of ``-X``, and which settings of an earlier layer a later setting overrides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kgroups.errors import UsageError

from .properties import read_bounded
from .settings_reader import Setting, is_secret
from .warnings import permission_warning

SERVERS = ("bootstrap.servers", "metadata.broker.list")
_TRUST = {"ssl.truststore.location", "ssl.truststore.certificates", "ssl.ca.location", "ssl.ca.pem"}
_CERTIFICATE = {"ssl.keystore.certificate.chain", "ssl.certificate.pem", "ssl.certificate.location"}
_KEY = {"ssl.keystore.key", "ssl.key.pem", "ssl.key.location"}
_STORE = {"ssl.keystore.location"}
_ID = {"sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.id"}
_SECRET = {"sasl.oauthbearer.client.credentials.client.secret", "sasl.oauthbearer.client.secret"}
_TOKEN, _ENDPOINT = {"sasl.oauthbearer.token"}, {"sasl.oauthbearer.token.endpoint.url"}
_GROUPS: tuple[tuple[set[str], set[str]], ...] = (
    ({"sasl.mechanism", "sasl.mechanisms"}, set()),
    (set(SERVERS), set()),
    (_TRUST, set()),
    (_CERTIFICATE, _STORE),
    (_KEY, _STORE),
    (_STORE, _CERTIFICATE | _KEY),
    ({"sasl.jaas.config"}, {"sasl.username", "sasl.password"}),
    (_ID, set()),
    (_SECRET, set()),
    (_TOKEN, _ENDPOINT),
    (_ENDPOINT, _TOKEN),
    ({"https.ca.location", "https.ca.pem"}, set()),
    ({"request.timeout.ms", "socket.timeout.ms"}, set()),
)
"""Pairs of keys that are spellings of one setting, and of keys that they replace: a key in the first set of a pair
overrides the other keys of both sets in earlier layers."""


def effective(layers: Iterable[Iterable[Setting]]) -> list[Setting]:
    """Return the effective settings: later layers override earlier ones, as do later values in the same layer."""
    merged: dict[str, Setting] = {}
    for layer in layers:
        current = {setting.key: setting for setting in layer}
        for key in current:
            for overridden in _overridden_by(key) - current.keys():
                merged.pop(overridden, None)
        merged.update(current)
    return list(merged.values())


def _overridden_by(key: str) -> set[str]:
    return {other for spellings, replaced in _GROUPS if key in spellings for other in spellings | replaced}


def settings_of_overrides(overrides: Iterable[str], warnings: list[str]) -> Iterator[Setting]:
    """Yield the settings of ``KEY=VALUE``, ``KEY=@FILE`` (contents of the file) and ``KEY=@@...`` (a literal ``@``).

    :param warnings: insecure overrides are appended here, one line each.
    :raises UsageError: if an override has none of these forms.
    :raises ConfigError: if a file cannot be read.
    """
    for text in overrides:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError("-X must be KEY=VALUE, such as -X security.protocol=SSL")
        if value.startswith("@@"):
            value = value[1:]
        elif value.startswith("@"):
            path = Path(value[1:])
            value = read_bounded(path, f"-X {key}").decode("utf-8", "surrogateescape").rstrip("\r\n")
            if is_secret(key):
                warnings.extend(filter(None, [permission_warning(path, "a secret")]))
            yield Setting(key, value, "-X")
            continue
        if is_secret(key) and value and not value.startswith("${"):
            warnings.append(
                f"-X {key}: visible to every user of this machine in the process list; use {key}=@FILE, or "
                f"{key}='${{env:NAME}}'"
            )
        yield Setting(key, value, "-X")
