"""Writers of offsets: commits, or start offsets of share groups. Modules are imported for the first group of a type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgroups.model.groups import GroupType

if TYPE_CHECKING:
    from .ledger import Writer


def writer_of(kind: str | None) -> Writer:
    """Return the writer for groups of a type."""
    if kind == GroupType.SHARE:
        from .share_starts import write_starts

        return write_starts
    from .commits import write_commits

    return write_commits
