"""Compare what a change wrote with the commits in the log of the group: another client may have written, too.

Kafka has no conditional commits: between the check of a group and the write of its offsets, another client can commit,
and neither is rejected. The log of the group has all commits in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..offsets import Move


class Rivals(NamedTuple):
    """The commits of other clients to one partition since its group was checked.

    ``overwritten``: the commits that the change replaced, in order. ``replaced_by``: commits that replaced its writes.
    ``equal``: whether another client committed the same offset at the same time, so that their order is unknown.
    """

    overwritten: tuple[Move, ...] = ()
    replaced_by: tuple[Move, ...] = ()
    equal: bool = False

    def words(self, name: str) -> str | None:
        """Return a sentence about a partition, or ``None`` if no other client committed."""
        parts = []
        if self.overwritten:
            parts.append(f"{_offset(self.overwritten[-1])} of another client was overwritten")
        if self.equal:
            parts.append("another client committed the same offset")
        if self.replaced_by:
            parts.append(f"another client has committed {_offset(self.replaced_by[-1])} since")
        return f"{name}: {', and '.join(parts)}" if parts else None


def rivals_of(wrote: Move, committed: Sequence[Move]) -> Rivals | None:
    """Return the commits of others among all commits in order, or ``None`` if what was written is not among them."""
    own = [at for at, commit in enumerate(committed) if _same(commit, wrote)]
    if not own:
        return None
    if len(own) == 1:
        return Rivals(tuple(committed[: own[0]]), tuple(committed[own[0] + 1 :]))
    return Rivals(tuple(committed[: own[0]]), tuple(committed[own[-1] + 1 :]), equal=True)


def _same(commit: Move, wrote: Move) -> bool:
    if commit is None or wrote is None:
        return commit is wrote
    return (commit.offset, commit.leader_epoch, commit.metadata or "") == (
        wrote.offset,
        wrote.leader_epoch,
        wrote.metadata or "",
    )


def _offset(move: Move) -> str:
    return "the deletion of the offset" if move is None else f"offset {move.offset}"
