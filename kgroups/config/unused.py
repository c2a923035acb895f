"""What becomes of settings that nobody here asked for: passed over in silence, or named in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .safe_text import harmless, shown_key
from .settings_reader import Setting

_UNUSED = ("sasl.login.", "sasl.kerberos.", "sasl.oauthbearer.", "sasl.client.callback", "sasl.server.callback")
_NAMED = 12
"""Keys that a remark names; the others it counts."""


def warnings_on_unused(left: Iterable[Setting], protocol: str) -> Iterator[str]:
    """One line on all that have no effect under this security.protocol, and one on all that nobody knows."""
    without: list[Setting] = []
    unknown: list[Setting] = []
    for setting in left:
        if setting.key in harmless() or setting.key.startswith(_UNUSED):
            continue
        idle = (setting.key.startswith(("ssl.", "enable.ssl.", "https.")) and "SSL" not in protocol) or (
            setting.key.startswith(("sasl.", "enable.sasl.")) and "SASL" not in protocol
        )
        (without if idle else unknown).append(setting)
    if without:
        yield f"{_named(without)}: ignored because security.protocol is {protocol}"
    if unknown:
        yield f"unknown and ignored: {_named(unknown)}"


def _named(settings: list[Setting]) -> str:
    """Keys under where they were given: ``a.properties, line 2: retires; line 5: x``."""
    told = [f"{shown_key(setting.key)} ({setting.origin})" for setting in settings[:_NAMED]]
    more = f" and {len(settings) - _NAMED} more" if len(settings) > _NAMED else ""
    return ", ".join(told) + more
