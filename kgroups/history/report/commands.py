"""Commands that show more, as text that can be pasted into a shell."""

from __future__ import annotations

from collections.abc import Sequence

from kgroups.model.shell import shell

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
    options = f"{_options(groups, longest)} --since {words.moment(period.since)} --until {words.moment(period.until)}"
    if isinstance(tables, str):
        return f"kgroups history {'' if tables in _SHORT else 'show '}{tables}{options}"
    return f"for table in {' '.join(tables)}; do kgroups history show $table{options}; done"


def _options(groups: Sequence[str], longest: int) -> str:
    quoted = [shell(group) if len(group) <= longest else "GROUP" for group in groups]
    return "".join(f" --group {each if len(each.encode()) <= longest else 'GROUP'}" for each in dict.fromkeys(quoted))
