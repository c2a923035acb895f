"""The status of a group in one word: what the known facts prove, worst first; no I/O and no clock.

One sample proves damage, such as lost records, and that nothing is unread. Whether a lag shrinks needs a
:class:`Trend`, from two or more moments. What is not proved is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from .counts import count, some
from .groups import GroupState
from .offsets import place_name
from .severity import Severity

Place = tuple[str, int]
"""Topic and partition."""


class Status(StrEnum):
    """The statuses of groups, from worst to best. The first one that is proved is the status of a group."""

    DATA_LOST = "data lost"
    DELETED_TOPIC = "deleted topic"
    RECREATED_TOPIC = "recreated topic"
    BEYOND_LOG_END = "beyond log end"
    TRUNCATED_LOG = "truncated log"
    NO_LEADER = "no leader"
    NOT_READY = "not ready"
    STUCK = "stuck"
    MOVED_BACK = "moved back"
    NOT_ASSIGNED = "not assigned"
    AT_RISK = "at risk"
    """Another problem that ``explain`` finds, such as a partition of two members."""
    NO_MEMBER = "no member"
    NOT_SUBSCRIBED = "not subscribed"
    FALLING_BEHIND = "falling behind"
    REBALANCING = "rebalancing"
    MISSING_TOPIC = "missing topic"
    STEADY = "steady lag"
    UNKNOWN = "unknown"
    LAGGING = "lagging"
    CATCHING_UP = "catching up"
    OK = "ok"

    @property
    def severity(self) -> Severity:
        """The severity, unless a :class:`GroupStatus` has another one."""
        return _SEVERITIES[self]


_WARNINGS = (
    Status.NO_MEMBER,
    Status.NOT_SUBSCRIBED,
    Status.FALLING_BEHIND,
    Status.REBALANCING,
    Status.MISSING_TOPIC,
    Status.STEADY,
)
_SEVERITIES = {
    **dict.fromkeys(Status, Severity.CRITICAL),
    **dict.fromkeys(_WARNINGS, Severity.WARNING),
    **dict.fromkeys((Status.UNKNOWN, Status.LAGGING), Severity.UNKNOWN),
    **dict.fromkeys((Status.CATCHING_UP, Status.OK), Severity.OK),
}
_RANKS = {each: rank for rank, each in enumerate(Status)}
_WORST_FIRST = {Severity.CRITICAL: 0, Severity.WARNING: 1, Severity.UNKNOWN: 2, Severity.OK: 3}


def rank_of(status: str) -> int:
    """Return the place of a status, from worst to best."""
    return _RANKS[Status(status)]


class Trend(StrEnum):
    """What two or more moments prove about the lag of a group."""

    STUCK = "stuck"
    MOVED_BACK = "moved back"
    FALLING_BEHIND = "falling behind"
    STEADY = "steady"
    UNKNOWN = "unknown"
    CATCHING_UP = "catching up"
    KEEPING_UP = "keeping up"
    NOTHING_UNREAD = "nothing unread"
    """Only transaction markers, or offsets that compaction removed, are left."""


class Damage(NamedTuple):
    """The partitions that one sample shows to be wrong, each sorted.

    ``lost``: their committed offset is below the log start offset. ``missing``: they do not exist. ``recreated``: their
    committed offset is of an earlier topic of the same name. ``ahead``: it is beyond the end of the log. ``truncated``:
    records before it were replaced after the group read them, if leader epochs were compared. ``leaderless``: no broker
    leads them. ``unassigned``: no member of a stable group has them, although records may be unread. ``never_seen``:
    they do not exist, and nothing shows that they did: the group has no commit on them, and no member owns them.
    """

    lost: tuple[Place, ...] = ()
    missing: tuple[Place, ...] = ()
    recreated: tuple[Place, ...] = ()
    ahead: tuple[Place, ...] = ()
    truncated: tuple[Place, ...] = ()
    leaderless: tuple[Place, ...] = ()
    unassigned: tuple[Place, ...] = ()
    never_seen: tuple[Place, ...] = ()


NO_DAMAGE = Damage()


class Left(NamedTuple):
    """The topics with commits that no member subscribes to, if records are unread there, or may be.

    ``unread``: the known number of records. ``unknown``: the number of partitions on which it is unknown.
    """

    topics: tuple[str, ...] = ()
    unread: int = 0
    unknown: int = 0

    def text(self, where: str) -> str:
        """Return what is unread, such as ``1,000 records are unread there``; ``""`` if nothing is.

        :param where: the place, such as ``there``.
        """
        if self.unread:
            least = "at least " if self.unknown else ""
            return f"{least}{count(self.unread, 'record is', 'records are')} unread {where}"
        return f"unknown whether records are unread {where}" if self.unknown else ""


NOTHING_LEFT = Left()


class Known(NamedTuple):
    """What one sample shows about a group; the lags and ``unknown`` as in the lag view.

    ``members``: their number; ``None``: not reported. ``unknown``: the number of partitions with unknown lag.
    ``stale``: the group was not reported; the other fields are from an earlier sample. ``left``: not in the lags.
    ``held_back``: why records may be unread that the lag does not contain, because of an open transaction.
    """

    state: str
    members: int | None
    total_lag: int | None
    known_lag: int | None
    unknown: int = 0
    damage: Damage = NO_DAMAGE
    stale: bool = False
    left: Left = NOTHING_LEFT
    held_back: str = ""


class GroupStatus(NamedTuple):
    """A status, its severity, and why, as a short clause."""

    status: Status
    severity: Severity
    reason: str

    @property
    def rank(self) -> tuple[int, int]:
        """The place in a list that begins with the worst status."""
        return _WORST_FIRST[self.severity], _RANKS[self.status]


def totals_text(statuses: Mapping[str, int], known_lag: int, whole: bool, *, short: bool = False) -> str:
    """Return the totals of several groups: ``15 groups: 3 critical, 2 warning, 4 unknown, 6 ok; total lag 365``.

    :param statuses: status -> number of groups.
    :param whole: whether ``known_lag`` is the lag of all groups.
    :param short: for narrow terminals, with fewer words.
    """
    counts = Counter[Severity]()
    for status, number in statuses.items():
        counts[Status(status).severity] += number
    named = [f"{counts[each]:,} {each.name.lower()}" for each in _WORST_FIRST if counts[each]]
    least = "" if whole else " >=" if short else " at least"
    lag = f"{'' if short else 'total '}lag{least} {known_lag:,}"
    return f"{count(sum(statuses.values()), 'group')}: {', '.join(named)}; {lag}"


def judge_status(known: Known, trend: Trend = Trend.UNKNOWN) -> GroupStatus:
    """Return the status of a group.

    :param trend: what earlier samples prove about its lag; without any, nothing.
    """
    if known.stale:
        return _status(Status.UNKNOWN, "not reported by the last refresh")
    found = _damage(known.damage)
    if found is None:
        rest = _lag(known, trend) or _state(known) or _never_seen(known.damage) or _rest(known, trend)
        found = _left(known.left, rest)
    if known.held_back and found.severity is Severity.OK:
        return _status(Status.UNKNOWN, f"{lag_text(known)}, but {known.held_back}")
    return found


def _status(status: Status, reason: str) -> GroupStatus:
    return GroupStatus(status, status.severity, reason)


def _damage(damage: Damage) -> GroupStatus | None:
    if damage is NO_DAMAGE:  # as for nearly all groups
        return None
    for places, status, text in (
        (damage.lost, Status.DATA_LOST, "records were deleted before they were read"),
        (damage.missing, Status.DELETED_TOPIC, "the partition does not exist"),
        (damage.recreated, Status.RECREATED_TOPIC, "the committed offset is of an earlier topic of this name"),
        (damage.ahead, Status.BEYOND_LOG_END, "the committed offset is beyond the end of the log"),
        (damage.truncated, Status.TRUNCATED_LOG, "records were replaced after the group read them"),
        (damage.leaderless, Status.NO_LEADER, "no client can read the partition"),
        (damage.unassigned, Status.NOT_ASSIGNED, "no member has the partition"),
    ):
        if places:
            return _status(status, f"{text}: {some([place_name(*place) for place in places])}")
    return None


def _lag(known: Known, trend: Trend) -> GroupStatus | None:
    """Judge what moved, and who could read."""
    if trend is Trend.MOVED_BACK:
        return _status(Status.MOVED_BACK, "committed offsets went back, and have not reached their old value again")
    if not known.known_lag or known.known_lag < 0:
        return None
    lag = lag_text(known)
    if known.members == 0:
        severity = Severity.CRITICAL if trend is Trend.STUCK else Severity.WARNING
        return GroupStatus(Status.NO_MEMBER, severity, f"{lag}, and the group has no members")
    if trend is Trend.STUCK:
        return _status(Status.STUCK, f"{lag}, and it makes no progress")
    if trend is Trend.FALLING_BEHIND:
        return _status(Status.FALLING_BEHIND, f"{lag}, and it grows")
    return None


def _state(known: Known) -> GroupStatus | None:
    if known.state == GroupState.NOT_READY:
        return _status(Status.NOT_READY, f"the state is {known.state}: no member has tasks")
    if known.state in GroupState.REBALANCING:
        return _status(Status.REBALANCING, f"the state is {known.state}")
    return None


def _never_seen(damage: Damage) -> GroupStatus | None:
    """Return the status of a group that reads its other topics, but subscribes to some that may never have existed."""
    if not damage.never_seen:
        return None
    return _status(Status.MISSING_TOPIC, never_seen_text(damage.never_seen))


def never_seen_text(places: Iterable[Place]) -> str:
    """Return which topics members subscribe to although nothing shows that they ever existed."""
    topics = sorted({topic for topic, _ in places})
    what = "a topic that does" if len(topics) == 1 else "topics that do"
    return f"members subscribe to {what} not exist (deleted, or never created): {some(topics)}"


def _left(left: Left, rest: GroupStatus) -> GroupStatus:
    """Return the status of the other topics, unless the topics that no member subscribes to make it worse."""
    if not left.topics:
        return rest
    status = Status.NOT_SUBSCRIBED if left.unread else Status.UNKNOWN
    found = _status(status, left.text(f"on {some(left.topics)}, to which no member subscribes"))
    return found if found.rank < rest.rank else rest


def _rest(known: Known, trend: Trend) -> GroupStatus:
    lag = lag_text(known)
    if known.total_lag is None:
        return _status(Status.UNKNOWN, lag)
    if known.total_lag == 0:
        return _status(Status.OK, "nothing is unread" + (", no members" if known.members == 0 else ""))
    match trend:
        case Trend.KEEPING_UP:
            return _status(Status.OK, f"{lag}, as is usual between two commits")
        case Trend.NOTHING_UNREAD:
            return _status(Status.OK, f"{lag}, but no record is unread")
        case Trend.CATCHING_UP:
            return _status(Status.CATCHING_UP, f"{lag}, and it shrinks")
        case Trend.STEADY:
            return _status(Status.STEADY, f"{lag}, and it neither grows nor shrinks")
    return _status(Status.LAGGING, f"{lag}; whether it grows is unknown")


def lag_text(known: Known) -> str:
    """Return the lag in words, such as ``lag at least 5, unknown on 2 partitions``."""
    if known.total_lag is not None:
        return f"lag {known.total_lag:,}"
    gap = f"unknown on {count(known.unknown, 'partition')}" if known.unknown else "unknown in part"
    if known.known_lag:
        return f"lag at least {known.known_lag:,}, {gap}"
    return f"lag {gap}" if known.unknown else "lag unknown"
