"""A setting of a group: the value that is in effect, or why it is unknown."""

from __future__ import annotations

from typing import NamedTuple

NOT_REPORTED = "not reported by its coordinator"


class Effective(NamedTuple):
    """The value of a setting that is in effect for a group, or why it is unknown."""

    name: str
    value: str | None = None
    unknown: str | None = None

    @property
    def number(self) -> int | None:
        return int(self.value) if self.value and self.value.isdecimal() else None


def unknown_text(*settings: Effective) -> str:
    """Return why settings are unknown, each reason once, to append to a sentence; empty if all are known."""
    names: dict[str, list[str]] = {}
    for each in settings:
        if each.unknown:
            names.setdefault(each.unknown, []).append(each.name)
    return "".join(f"; {', '.join(some)}: {reason}" for reason, some in names.items())
