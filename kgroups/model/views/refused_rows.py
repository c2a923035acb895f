"""Rows of groups that the principal cannot describe: their names, and the reason in NOTE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..outcome import Failure, Scope


def refused_groups(failures: Iterable[Failure]) -> dict[str, str]:
    """Return group -> the first reason, sorted by group."""
    found: dict[str, str] = {}
    for failure in failures:
        if failure.scope is Scope.GROUP and failure.acl:
            found.setdefault(failure.name, failure.message)
    return dict(sorted(found.items()))


def refused_rows(row_type: type[Any], failures: Iterable[Failure]) -> list[Any]:
    """Return rows that contain only group and note, for any view with these columns.

    :param row_type: the named tuple of the view's rows.
    """
    unknown = dict.fromkeys(row_type._fields)
    return [row_type(**{**unknown, "group": group, "note": note}) for group, note in refused_groups(failures).items()]
