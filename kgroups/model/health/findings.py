"""What is seen of a group at one moment, and what rules find in it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..groups import GroupId
from ..time_lag import FirstUnread
from ..views.lag_summary import NO_AGES, Ages
from ..views.offset_row import GroupOffsets
from .severity import Severity, Threshold

Place = tuple[str, int]
"""Topic and partition."""


class Finding(NamedTuple):
    """One rule's verdict on one group. ``value`` is the number that was measured, with ``limit`` what it is held to."""

    group: GroupId
    check: str
    severity: Severity
    message: str
    value: float | None = None
    unit: str = ""
    """``""`` for counts, ``ms`` for times."""
    limit: Threshold | None = None
    topic: str | None = None


class Proof(NamedTuple):
    """Whether a record is unread in a partition that is behind; ``None``: unknown, for a reason."""

    unread: bool | None
    reason: str = ""


SKIPPED = (
    "only records of aborted or open transactions are unread, which a consumer with isolation.level=read_committed "
    "does not read"
)


def proof_of(readable: FirstUnread | None, unread: FirstUnread | None) -> Proof:
    """Tell whether a record is unread.

    :param readable: what a consumer reads next that passes over aborted and open transactions.
    :param unread: what one reads next that does not; ``None`` where nobody asked.
    """
    for found in (readable, unread):
        if found is not None and found.failed is not None:
            return Proof(None, f"unread records are unknown: {found.failed}")
    if readable is None:
        return Proof(None, "unread records are unknown")
    if readable.offset is not None:
        return Proof(True)
    return Proof(False) if unread is None or unread.offset is None else Proof(None, SKIPPED)


class Seen(NamedTuple):
    """One group at one moment.

    ``committed_at``: milliseconds since 1970 of the last commit on each partition, as far as the records tell; ``None``
    where nobody asked, or nothing could be read. ``commits_unread`` is why not all of them are known;
    ``commits_before``: those that are not lie before then, where it is known how far back the records were read.
    ``proofs``: partitions that were looked into for an unread record.
    """

    offsets: GroupOffsets
    now: int
    ages: Ages = NO_AGES
    committed_at: Mapping[Place, int] | None = None
    commits_unread: str | None = None
    commits_before: int | None = None
    proofs: Mapping[Place, Proof] = MappingProxyType({})
    outsiders: str | None = None
    """How it is known that a client that is not a member commits."""
    outsiders_unread: str | None = None
    """Why it is unknown."""
