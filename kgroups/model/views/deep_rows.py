"""The rows of ``describe --deep``: the rows of other views, with facts from the log added. Times are ISO 8601, UTC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..group_log import GroupLogs, expires_at
from ..groups import Group
from ..lag import RECREATED
from ..moments import moment_text
from ..share.partition import ShareFacts
from ..subscriptions import unsubscribed_topics
from .member_rows import MemberRow, StateRow
from .offset_row import OffsetRow
from .share_state_rows import NO_COLUMNS, share_columns, share_notes


class StateLog(NamedTuple):
    """The columns that the log adds to a :class:`StateRow`."""

    generation: int | None
    leader: str | None
    state_since: str | None
    last_rebalance: str | None


class MemberLog(NamedTuple):
    """The columns that the log adds to a :class:`MemberRow`; ``leader``: whether this member is the leader."""

    leader: bool | None
    session_timeout_ms: int | None
    rebalance_timeout_ms: int | None
    last_rebalance: str | None


class CommitLog(NamedTuple):
    """The columns that the log adds to an :class:`OffsetRow`; the :class:`.share_state_rows.ShareColumns` follow."""

    committed_at: str | None = None
    expires_at: str | None = None


NO_LOG = (*CommitLog(), *NO_COLUMNS)

_NO_IDS: Mapping[str, int] = MappingProxyType({})


def deep_state_row(row: StateRow, logs: GroupLogs) -> tuple[Any, ...]:
    """Return the row, followed by a :class:`StateLog`."""
    log = logs.of(row.group)
    found = StateLog(
        generation=log.generation,
        leader=log.leader,
        state_since=_moment(log.since(row.state)),
        last_rebalance=_moment(log.rebalanced),
    )
    return (*row, *found)


def deep_member_row(row: MemberRow, logs: GroupLogs) -> tuple[Any, ...]:
    """Return the row, followed by a :class:`MemberLog`."""
    log = logs.of(row.group)
    session, rebalance = log.timeouts.get(row.consumer_id or "", (None, None))
    found = MemberLog(
        leader=None if log.leader is None else log.leader == row.consumer_id,
        session_timeout_ms=session,
        rebalance_timeout_ms=rebalance,
        last_rebalance=_moment(log.rebalanced),
    )
    return (*row, *found)


def deep_offset_row(
    row: OffsetRow, group: Group, logs: GroupLogs, topic_ids: Mapping[str, int] = _NO_IDS
) -> tuple[Any, ...]:
    """Return the row, followed by a :class:`CommitLog` and empty :class:`ShareColumns`.

    Since Kafka 4.1, the record contains the topic ID. If the topic has another ID now, it was deleted and recreated.
    """
    log = logs.of(row.group)
    commit = None if row.topic is None or row.partition is None else log.commits.get((row.topic, row.partition))
    if commit is None or row.current_offset is None:
        return (*row, *NO_LOG)
    current = topic_ids.get(row.topic or "")
    if commit.topic_id and current and commit.topic_id != current:
        row = row._replace(lag=None, note=RECREATED)
    left = bool(unsubscribed_topics(group, (row.topic or "",)))
    expires = expires_at(group, commit, log, logs.retention, left=left)
    found = CommitLog(committed_at=_moment(commit.committed), expires_at=_moment(expires))
    return (*row, *found, *NO_COLUMNS)


def deep_share_rows(rows: Iterable[OffsetRow], facts: ShareFacts) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a share group, each followed by an empty :class:`CommitLog` and its :class:`ShareColumns`."""
    partitions = {(partition.topic, partition.partition): partition for partition in facts.partitions}
    for row in rows:
        partition = partitions.get((row.topic or "", -1 if row.partition is None else row.partition))
        if partition is None:
            yield (*row, *NO_LOG)
            continue
        note = "; ".join(filter(None, (row.note, *share_notes(partition)))) or None
        yield (*row._replace(note=note), *CommitLog(), *share_columns(partition, facts.settings))


def _moment(ms: int | None) -> str | None:
    return None if ms is None else moment_text(ms)
