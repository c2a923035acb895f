"""Warn of settings without effect, and of files with secrets that other users can read.

Settings that are known to have no effect in an admin client are not named.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from .safe_text import known_unused_keys, shown_key
from .settings_reader import Setting

_OF_MECHANISM = {
    "sasl.oauthbearer.": ("OAUTHBEARER",),
    "sasl.kerberos.": ("GSSAPI",),
    "sasl.jaas.config": (),
    "sasl.username": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
    "sasl.password": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
}
"""The start of keys -> the mechanisms that read them."""
_MAX_NAMED = 12
"""Number of keys that a warning names; it counts the others."""


def warnings_on_unused(unused: Iterable[Setting], protocol: str, mechanism: str | None = None) -> Iterator[str]:
    """Yield one warning for all settings without effect under this security.protocol, and one for all unknown ones.

    :param mechanism: the SASL mechanism; other mechanisms have settings of their own.
    """
    ineffective: list[Setting] = []
    other: list[Setting] = []
    unknown: list[Setting] = []
    for setting in unused:
        if setting.key in known_unused_keys():
            continue
        mechanisms = next((found for start, found in _OF_MECHANISM.items() if setting.key.startswith(start)), None)
        if mechanism and mechanisms is not None and mechanism not in mechanisms:
            other.append(setting)
            continue
        is_ineffective = (setting.key.startswith(("ssl.", "enable.ssl.", "https.")) and "SSL" not in protocol) or (
            setting.key.startswith(("sasl.", "enable.sasl.")) and "SASL" not in protocol
        )
        (ineffective if is_ineffective else unknown).append(setting)
    if ineffective:
        yield f"{_named(ineffective)}: ignored because security.protocol is {protocol}"
    if other:
        yield f"{_named(other)}: ignored because sasl.mechanism is {mechanism}"
    if unknown:
        yield f"unknown and ignored: {_named(unknown)}"


def _named(settings: list[Setting]) -> str:
    """Return the keys with their origins: ``retires (a.properties, line 2), x (a.properties, line 5)``."""
    named = [f"{shown_key(setting.key)} ({setting.origin})" for setting in settings[:_MAX_NAMED]]
    more = f" and {len(settings) - _MAX_NAMED} more" if len(settings) > _MAX_NAMED else ""
    return ", ".join(named) + more


_OTHERS = stat.S_IRGRP | stat.S_IROTH


def permission_warning(path: Path, what: str) -> str | None:
    """Return a warning; ``None`` if only the owner can read the file, or it is not a regular file, such as a pipe."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or not status.st_mode & _OTHERS:
        return None
    who = "all users" if status.st_mode & stat.S_IROTH else "the group"
    return f"{path} contains {what} and is readable by {who}; run chmod 600 {path}"
