"""How offsets are written: commits, or the start offsets of share groups. A module is imported when its type is met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgroups.model.groups import GroupType

if TYPE_CHECKING:
    from .ledger import Writer


def writer_of(kind: str | None) -> Writer:
    """Return what writes the planned offsets of groups of a type."""
    if kind == GroupType.SHARE:
        from .share_starts import write_starts

        return write_starts
    from .commits import write_commits

    return write_commits
