"""The facts about one partition of a group; :mod:`.judge` has no other input. Times are in milliseconds since 1970."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from kgroups.model.groups import GroupState
from kgroups.model.lag import compute_lag
from kgroups.model.offsets import LogProblem
from kgroups.model.operations.commit_history import History
from kgroups.model.permissions import Acl
from kgroups.model.quotas import FetchLimit
from kgroups.model.rates import Pace
from kgroups.model.record import RecordDetails


class Part(StrEnum):
    """A part of the facts that may be unavailable."""

    LOG = "log"
    LAST_STABLE = "last_stable_offset"
    RECORD = "first_unread_record"
    COMMITS = "commit_history"
    TRANSACTION = "open_transaction"
    PACE = "production_rate"
    QUOTA = "quota"


class Unavailable(NamedTuple):
    """A part of the facts that is unknown, and why: the missing ACL or version, or the error."""

    part: Part
    reason: str
    acl: Acl | None = None
    """The ACL that is known to be missing."""


ENDED = ("Empty", "CompleteCommit", "CompleteAbort")
"""The states of a transactional ID without a transaction that is not ended."""


class OpenTransaction(NamedTuple):
    """A transaction that is open in a partition; what brokers do not report is ``None``."""

    producer_id: int
    began_at: int
    last_write: int
    transactional_id: str | None = None
    state: str | None = None
    started: int | None = None
    timeout_ms: int | None = None
    coordinator: int | None = None

    @property
    def ended(self) -> bool:
        """Whether its coordinator knows it, and has ended it: it is hanging if that was not just now (KIP-664)."""
        return self.state in ENDED


class Owner(NamedTuple):
    """The member that a partition is assigned to."""

    member_id: str
    client_id: str
    host: str


class PartitionFacts(NamedTuple):
    """The facts about one partition of one group at the time ``now``.

    ``start``, ``end``, ``last_stable``: of the log. ``first_unread``: the offset of the first record that a consumer
    with ``read_committed`` receives, ``None`` if there is none and ``record_known`` is true. ``first_aborted``: then
    the offset of the first record of an aborted transaction, which consumers with ``read_uncommitted`` receive.
    ``denied``: the ACL that the principal of kgroups lacks to read the records. ``pace``: observed only if the verdict
    depends on it. ``limit``: the quota of the member, read only if the lag grows.
    """

    group: str
    topic: str
    partition: int
    now: int
    state: str = GroupState.STABLE
    members: int | None = None
    committed: int | None = None
    start: int | None = None
    end: int | None = None
    last_stable: int | None = None
    leader: int | None = None
    log_problem: LogProblem | None = None
    recreated: bool = False
    epoch_ahead: bool = False
    diverged_at: int | None = None
    """The first offset before the committed one whose record was replaced after the group read it."""
    pending: bool = False
    """Whether an open transaction has an offset that may replace the committed one."""
    left: bool = False
    """Whether no member subscribes to the topic."""
    owner: Owner | None = None
    record_known: bool = False
    first_unread: int | None = None
    first_aborted: int | None = None
    record: RecordDetails | None = None
    denied: str | None = None
    transactions: tuple[OpenTransaction, ...] = ()
    history: History | None = None
    other_commit: int | None = None
    """When another partition of its member was last committed."""
    pace: Pace | None = None
    limit: FetchLimit | None = None
    unavailable: tuple[Unavailable, ...] = ()
    bootstrap: str = "BOOTSTRAP"
    """The bootstrap servers, for commands of Kafka's tools."""

    @property
    def lag(self) -> int | None:
        """The lag in offsets; ``None`` if it is unknown."""
        return compute_lag(self.committed, self.end)

    @property
    def nothing_unread(self) -> bool:
        """Whether it is known that no record is left, and that no open transaction hides one."""
        return self.record_known and self.first_unread is None and self.last_stable == self.end
