"""Commands that show more, as text that can be pasted into a shell."""

from __future__ import annotations

from collections.abc import Sequence

from kgroups.model.shell import shell

from ..transform.definitions import has_span
from . import words
from .data import Period

_SHORT = ("lag", "rebalances", "stale")
"""Tables with a command of their own."""


def explain(groups: Sequence[str], longest: int = 1000) -> str:
    """Return the command that explains the present state of these groups."""
    return f"kgroups explain{_options(groups, longest) or ' --all-groups'}"


def history(tables: str | Sequence[str], period: Period, groups: Sequence[str] = (), longest: int = 1000) -> str:
    """Return the command that shows a table of the store, or several, of these groups.

    :param longest: maximum length of the name of a group in bytes; a longer one is replaced by ``GROUP``.
    """
    selected = _options(groups, longest)
    until = f"--until {words.moment(period.until)}"
    span = f"--since {words.moment(period.since)} {until}"
    if isinstance(tables, str):
        times = span if has_span(tables) else until
        return f"kgroups history {'' if tables in _SHORT else 'show '}{tables}{selected} {times}"
    commands = [history(table, period, groups, longest) for table in tables if not has_span(table)]
    if several := " ".join(filter(has_span, tables)):
        commands.insert(0, f"for table in {several}; do kgroups history show $table{selected} {span}; done")
    return "; ".join(commands)


def _options(groups: Sequence[str], longest: int) -> str:
    quoted = [shell(group) if len(group) <= longest else "GROUP" for group in groups]
    return "".join(f" --group {each if len(each.encode()) <= longest else 'GROUP'}" for each in dict.fromkeys(quoted))
