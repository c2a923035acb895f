"""Compare a store with the cluster now: its positions with the ends of the log, its latest offsets with OffsetFetch.

Groups commit meanwhile. So what was written after the store's position is read from the log, after the cluster was
asked: a group whose offset the store does not have must have it from there. What cannot be read is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from kgroups.errors import KgroupsError
from kgroups.model.counts import count
from kgroups.model.placement import partition_of

from ..decode import decode_batch
from ..decode.rows import COMMIT_TYPES
from ..extract.ranges import Ends, between
from ..extract.reader import LogReader
from ..live.ask import cluster_id, sweep
from ..live.offsets_log import OffsetsLog
from ..load.clients import Clients
from ..load.store import Identity
from .result import Check, judged, unknown

CLUSTER, POSITIONS, LATEST = "same-cluster", "positions-in-log", "latest-offsets"
_TABLE = "latest_offsets"
_INCOMPLETE = "not every broker responded with all groups (the ACL DESCRIBE on CLUSTER is required)"

MAX_TAIL = 2_000_000
"""Maximum number of offsets after the store's position that are read."""

Key = tuple[str, str, int]
"""Group, topic, and partition."""


class Commit(NamedTuple):
    """A committed offset. Metadata that a client did not set is empty."""

    offset: int | None
    """``None``: the record cannot be decoded."""
    leader_epoch: int | None
    metadata: str

    def agrees(self, other: Commit | None) -> bool:
        """Return whether it is the same commit; brokers before Kafka 2.1 do not report leader epochs."""
        if other is None or (self.offset, self.metadata) != (other.offset, other.metadata):
            return False
        return None in (self.leader_epoch, other.leader_epoch) or self.leader_epoch == other.leader_epoch


class Tail(NamedTuple):
    """The records that were written to the log after the store's positions."""

    commits: Mapping[Key, list[Commit | None]]
    """By key, in log order; ``None`` is a tombstone."""
    unread: Mapping[int, str]
    """Log partition -> why records of it are unknown."""
    holes: frozenset[int]
    """Log partitions in which compaction may have deleted tombstones."""
    partitions: int
    """Number of partitions of the log."""


class Now(NamedTuple):
    """The state that the cluster reports."""

    commits: Mapping[Key, Commit]
    complete: bool
    """Whether every broker responded."""
    groups: frozenset[str]
    tail: Tail


class ClusterState(NamedTuple):
    """The ends of the log, and the state of groups."""

    topic_id: str | None
    ends: Mapping[int, Ends]
    now: Now | str
    """``str``: why it is unknown."""


def ask(clients: Clients, identity: Identity, positions: Mapping[int, int]) -> ClusterState:
    """Ask the cluster for its groups, and then read the log from the store's positions on.

    :raises KgroupsError: if the cluster does not respond.
    """
    state = sweep(clients.session)
    log = OffsetsLog(clients.session, identity.topic)
    ends = log.ends()
    try:
        tail = read_tail(clients.reader, identity.topic, positions, ends)
    except KgroupsError as error:
        return ClusterState(log.topic_id, ends, f"the log after the store's position cannot be read: {error}")
    rows = state.baseline.to_pylist()
    (summary,) = state.summary.to_pylist()
    commits = {(row["group"], row["topic"], row["partition"]): _commit(row) for row in rows if row["topic"] is not None}
    groups = frozenset(row["group"] for row in rows)
    return ClusterState(log.topic_id, ends, Now(commits, summary["complete"], groups, tail))


def read_tail(reader: LogReader, topic: str, positions: Mapping[int, int], ends: Mapping[int, Ends]) -> Tail:
    """Read the commits after the store's positions.

    :raises KgroupsError: if the log cannot be read.
    """
    starts = {partition: positions.get(partition, each.start) for partition, each in ends.items()}
    ranges = between(starts, {partition: each.stable for partition, each in ends.items()})
    unread = {
        partition: "an open transaction hides records" for partition, each in ends.items() if each.end > each.stable
    }
    if sum(piece.span for piece in ranges) > MAX_TAIL:
        behind = {piece.partition: f"{count(piece.span, 'offset')} behind; collect first" for piece in ranges}
        return Tail({}, unread | behind, frozenset(), len(ends))
    commits: dict[Key, list[Commit | None]] = {}
    seen: Counter[int] = Counter()
    for batch in reader.read(ranges, topic=topic):
        decoded = decode_batch(batch)
        seen.update(decoded["log_partition"].to_pylist())
        for row in _commits(decoded):
            key = (row["group"], row["topic"], row["partition"])
            commits.setdefault(key, []).append(None if row["tombstone"] else _commit(row))
    holes = frozenset(piece.partition for piece in ranges if seen[piece.partition] < piece.span)
    return Tail(commits, unread, holes, len(ends))


def _commits(decoded: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    for row in decoded.drop_columns(["key", "value"]).to_pylist():
        if row["record_type"] in COMMIT_TYPES and row["topic"] is not None:
            yield row


def _commit(row: Mapping[str, Any]) -> Commit:
    return Commit(row["committed_offset"], row["leader_epoch"], row["metadata"] or "")


def stored_commits(rows: list[dict[str, Any]]) -> dict[Key, Commit]:
    """Return the latest commits from rows of ``latest_offsets``."""
    return {(row["group"], row["topic"], row["partition"]): _commit(row) for row in rows}


def check_cluster(identity: Identity, clients: Clients) -> Check:
    """Check that it is the cluster whose history the store has.

    :raises KgroupsError: if the cluster does not respond.
    """
    expected, found = identity.cluster_id, cluster_id(clients.session)
    if expected is None or found is None:
        return unknown(CLUSTER, None, "brokers before Kafka 0.10.1 do not report the ID of the cluster")
    note = f"the store has the history of {expected}, but {clients.settings.bootstrap_servers} is {found}"
    return judged(CLUSTER, None, 1, int(expected != found), note if expected != found else None)


def check_positions(identity: Identity, positions: Mapping[int, int], state: ClusterState) -> Check:
    """Check that the log still reaches to where it was read."""
    topic = identity.topic
    if None not in (identity.topic_id, state.topic_id) and identity.topic_id != state.topic_id:
        return judged(POSITIONS, None, len(positions), len(positions), f"{topic} was recreated")
    wrong = {
        partition: position
        for partition, position in sorted(positions.items())
        if partition not in state.ends or state.ends[partition].stable < position
    }
    note = None
    for partition, position in wrong.items():
        ends = state.ends.get(partition)
        note = f"{topic}-{partition} was read up to {position}, but ends at {ends.stable if ends else 0}"
        break
    return judged(POSITIONS, None, len(positions), len(wrong), note)


def check_latest(stored: Mapping[Key, Commit], now: Now | str) -> Check:
    """Check that the latest offsets equal the offsets of the cluster, except for later commits."""
    if isinstance(now, str):
        return unknown(LATEST, _TABLE, now)
    wrong: list[str] = []
    unclear: list[str] = []
    keys = sorted(stored.keys() | now.commits.keys())
    for key in keys:
        here, there = stored.get(key), now.commits.get(key)
        if (here is not None and here.agrees(there)) or _explained(there, now.tail.commits.get(key, ())):
            continue
        later = now.tail.commits.get(key) or [here]
        is_decoded = all(each is None or each.offset is not None for each in later)
        why = _unclear(key, there, now) if is_decoded else "this version cannot decode the last commit"
        text = f"{key[0]}, {key[1]}-{key[2]}: {_text(here)} in the store, {_text(there)} in the cluster"
        (unclear if why else wrong).append(f"{text}; {why}" if why else text)
    if wrong:
        return judged(LATEST, _TABLE, len(keys), len(wrong), wrong[0])
    if unclear:
        return unknown(LATEST, _TABLE, f"{count(len(unclear), 'offset')} unknown: {unclear[0]}", len(keys))
    if not now.complete:
        return unknown(LATEST, _TABLE, _INCOMPLETE, len(keys))
    return judged(LATEST, _TABLE, len(keys), 0)


def _explained(there: Commit | None, later: list[Commit | None] | tuple[()]) -> bool:
    """Return whether the cluster's offset was written after the store's position."""
    return any(each is None if there is None else each is not None and each.agrees(there) for each in later)


def _unclear(key: Key, there: Commit | None, now: Now) -> str | None:
    """Return why a difference need not be an error; ``None`` if it is one."""
    at = partition_of(key[0], now.tail.partitions)
    if at in now.tail.unread:
        return now.tail.unread[at]
    if there is None and key[0] not in now.groups and not now.complete:
        return _INCOMPLETE
    if there is None and at in now.tail.holes:
        return "compaction may have deleted its tombstone"
    return None


def _text(commit: Commit | None) -> str:
    if commit is None:
        return "no offset"
    if commit.offset is None:
        return "an unknown offset"
    details = [f"leader epoch {commit.leader_epoch}"] if commit.leader_epoch is not None else []
    details += [f"metadata {commit.metadata!r}"] if commit.metadata else []
    return f"{commit.offset}" + (f" ({', '.join(details)})" if details else "")
