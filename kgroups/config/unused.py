"""Warn of settings that have no effect, except those that are known to have none in an admin client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .safe_text import known_unused_keys, shown_key
from .settings_reader import Setting

_UNUSED = ("sasl.login.", "sasl.kerberos.", "sasl.oauthbearer.", "sasl.client.callback", "sasl.server.callback")
_MAX_NAMED = 12
"""Number of keys that a warning names; it counts the others."""


def warnings_on_unused(unused: Iterable[Setting], protocol: str) -> Iterator[str]:
    """Yield one warning for all settings without effect under this security.protocol, and one for all unknown ones."""
    ineffective: list[Setting] = []
    unknown: list[Setting] = []
    for setting in unused:
        if setting.key in known_unused_keys() or setting.key.startswith(_UNUSED):
            continue
        is_ineffective = (setting.key.startswith(("ssl.", "enable.ssl.", "https.")) and "SSL" not in protocol) or (
            setting.key.startswith(("sasl.", "enable.sasl.")) and "SASL" not in protocol
        )
        (ineffective if is_ineffective else unknown).append(setting)
    if ineffective:
        yield f"{_named(ineffective)}: ignored because security.protocol is {protocol}"
    if unknown:
        yield f"unknown and ignored: {_named(unknown)}"


def _named(settings: list[Setting]) -> str:
    """Return the keys with their origins: ``retires (a.properties, line 2), x (a.properties, line 5)``."""
    named = [f"{shown_key(setting.key)} ({setting.origin})" for setting in settings[:_MAX_NAMED]]
    more = f" and {len(settings) - _MAX_NAMED} more" if len(settings) > _MAX_NAMED else ""
    return ", ".join(named) + more
