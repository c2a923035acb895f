"""Rows of groups that a principal is not allowed to see: their names, and in NOTE the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..outcome import Failure, Scope


def refused_groups(failures: Iterable[Failure]) -> dict[str, str]:
    """Group -> the reason, sorted; the first that was given."""
    found: dict[str, str] = {}
    for failure in failures:
        if failure.scope is Scope.GROUP and failure.acl:
            found.setdefault(failure.name, failure.message)
    return dict(sorted(found.items()))


def refused_rows(kind: type[Any], failures: Iterable[Failure]) -> list[Any]:
    """Of any view whose rows, named tuples, begin with the group and have a note: nothing else is known."""
    unknown = dict.fromkeys(kind._fields)
    return [kind(**{**unknown, "group": group, "note": note}) for group, note in refused_groups(failures).items()]
