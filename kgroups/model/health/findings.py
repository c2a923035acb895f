"""Samples of groups, and the findings of rules."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..groups import GroupId
from ..migration import MigrationFacts
from ..operations.commit_history import History
from ..severity import Severity, Threshold
from ..share.partition import ShareFacts
from ..time_lag import FirstUnread
from ..views.lag_summary import NO_AGES, Ages
from ..views.offset_row import GroupOffsets

Place = tuple[str, int]
"""Topic and partition."""


class Finding(NamedTuple):
    """The verdict of one rule on one group; ``value`` is the measured number, ``limit`` the rule's number."""

    group: GroupId
    check: str
    severity: Severity
    message: str
    value: float | None = None
    unit: str = ""
    """``""`` for counts, ``ms`` for times."""
    limit: Threshold | None = None
    topic: str | None = None
    cluster: str = ""
    """The name of the cluster, if several are checked."""


class Proof(NamedTuple):
    """Whether a lagging partition has an unread record; ``None``: unknown, with the reason.

    ``first``: that record; its time is in milliseconds since 1970.
    """

    unread: bool | None
    reason: str = ""
    first: FirstUnread = FirstUnread()


SKIPPED = (
    "only records of aborted or open transactions are unread, which a consumer with isolation.level=read_committed "
    "does not read"
)


def proof_of(readable: FirstUnread | None, unread: FirstUnread | None) -> Proof:
    """Return whether a partition has an unread record.

    :param readable: the next record for a consumer that skips aborted and open transactions.
    :param unread: the next record for a consumer that does not skip them; ``None`` if not requested.
    """
    for found in (readable, unread):
        if found is not None and found.failed is not None:
            return Proof(None, f"unread records are unknown: {found.failed}")
    if readable is None:
        return Proof(None, "unread records are unknown")
    if readable.offset is not None:
        return Proof(True, first=readable)
    return Proof(False) if unread is None or unread.offset is None else Proof(None, SKIPPED)


class Sample(NamedTuple):
    """A sample to take ``pause`` seconds after the previous one, and the data that it needs.

    ``with_ages``: the age of the first unread records, which are read for it. ``with_headroom``: also how long they are
    retained. ``with_counts``: also how many there are. ``with_commit_times``: the time of each commit, for which the
    offsets topic is read. ``with_outsiders``: whether clients that are not members commit for groups without members.
    ``with_expiry``: when the offsets of groups without members expire. ``with_share_states``: what became of the
    records of share groups, for which ``__share_group_state`` is read. ``with_epoch_ends``: whether logs were truncated
    below commits. ``with_migration``: the settings of all brokers that decide about a migration (KIP-848).
    """

    pause: float = 0
    with_ages: bool = False
    with_commit_times: bool = False
    with_outsiders: bool = False
    with_headroom: bool = False
    with_counts: bool = False
    with_expiry: bool = False
    with_share_states: bool = False
    with_epoch_ends: bool = False
    with_migration: bool = False


class Seen(NamedTuple):
    """One sample of one group.

    ``committed_at``: the time of the last commit of each partition, in milliseconds since 1970, as far as the commit
    records show; ``None`` if not requested, or if no records could be read. ``commits_unread``: why some are unknown.
    ``commits_before``: these are older than this time, if known. ``proofs``: the partitions that were searched for an
    unread record.
    """

    offsets: GroupOffsets
    now: int
    ages: Ages = NO_AGES
    committed_at: Mapping[Place, int] | None = None
    commits_unread: str | None = None
    commits_before: int | None = None
    proofs: Mapping[Place, Proof] = MappingProxyType({})
    histories: Mapping[Place, History] = MappingProxyType({})
    """The commits of these partitions, if they were needed."""
    histories_unread: str | None = None
    """Why they are unknown."""
    outsiders: str | None = None
    """The evidence that a client that is not a member commits."""
    outsiders_unread: str | None = None
    """Why it is unknown whether other clients commit."""
    share: ShareFacts | None = None
    """Of a share group, if requested."""
    expires_at: Mapping[Place, int] | None = None
    """When offsets expire, in milliseconds since 1970, if the group has no members."""
    expiry_unread: str | None = None
    """Why that is unknown for some offsets."""
    migration: MigrationFacts | None = None
    """What decides about a migration, if requested."""
