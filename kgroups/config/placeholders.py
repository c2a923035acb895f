"""Find placeholders that nothing resolves, such as ``${KAFKA_PASSWORD}``, which clients send as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .settings_reader import Setting

_WITHIN = re.compile(r"\$\{[^{}]*\}")
_NAME = r"[A-Za-z_][\w.-]*"
_WHOLE = re.compile(rf"\$\{{{_NAME}\}}|\$\({_NAME}\)|\$[A-Z_][A-Z0-9_]*|\{{\{{.*\}}\}}|<[^<>]+>|%{_NAME}%|@{_NAME}@")
_SHOWN = re.compile(rf"\$\{{{_NAME}\}}|\$\({_NAME}\)|\$[A-Z_][A-Z0-9_]*")
_KEYS = ("bootstrap.", "metadata.broker.", "sasl.", "ssl.", "https.")
_USE = "use ${env:NAME} or ${file:PATH:KEY}"


def placeholder_hint(what: str, *values: str) -> str | None:
    """Return what to do if one of the values is or contains a placeholder; ``None`` if none does.

    :param what: what was sent.
    """
    for value in values:
        if found := _found(value):
            return f"{what} {found}, which is sent as it is; {_USE}"
    return None


def placeholder_warnings(settings: Iterable[Setting]) -> Iterator[str]:
    """Yield a warning for each setting of a connection that is or contains a placeholder."""
    for setting in settings:
        if setting.key.startswith(_KEYS):
            for option, value in _values(setting):
                if found := _found(value):
                    yield f"{setting.place}{option} {found}, which is sent as it is; {_USE}"


def _values(setting: Setting) -> Iterator[tuple[str, str]]:
    if setting.key != "sasl.jaas.config":
        yield "", setting.value
        return
    from .formats.jaas import OPTIONS, parse_jaas

    try:
        options = parse_jaas(setting.value).options
    except ValueError:
        return  # an error of its own
    for name, value in options.items():
        yield f": {name}" if name in OPTIONS else ": an option", value


def _found(value: str) -> str | None:
    """Return ``is the placeholder ${NAME}``; only a value that is a name in whole is shown."""
    if _SHOWN.fullmatch(value):
        return f"is the placeholder {value}"
    if _WHOLE.fullmatch(value):
        return "is a placeholder"
    return "contains a placeholder ${...}" if _WITHIN.search(value) else None
