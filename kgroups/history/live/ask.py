"""Blocking queries to the cluster, by the same code as the commands, for callers without an event loop.

Every function raises :class:`~kgroups.errors.ClusterUnreachable` if no bootstrap server responds, and other classes of
:class:`~kgroups.errors.KgroupsError` if the brokers cannot be used; all other failures are data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import pyarrow as pa

from kgroups.admin.offsets_topic.retention import offsets_retention
from kgroups.admin.query.describe import describe_located, describe_located_offsets
from kgroups.admin.query.group_offsets import fetch_commits
from kgroups.admin.query.list_groups import ListFilter
from kgroups.admin.query.log_offsets import fetch_logs
from kgroups.admin.query.select_groups import ResolvedSelection, Selection
from kgroups.admin.routing.query_coordinators import GroupResults
from kgroups.admin.wire import WireClient
from kgroups.errors import KgroupsError
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.offsets import GroupCommits, Isolation, LogOffsets, Logs
from kgroups.model.operations.origin import topic_id_text
from kgroups.model.outcome import Outcome
from kgroups.model.placement import OFFSETS_TOPIC, partition_of
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.protocol.apis.metadata import ClusterMetadata, Metadata

from ..tables import BASELINE, HEADS, SWEEPS
from .rows import Row, kind_of, record_batch
from .wire_session import WireSession


def cluster_id(session: WireSession) -> str | None:
    """Return the ID of the cluster; ``None`` if its brokers are too old to report it."""

    async def query(admin: WireClient) -> str | None:
        return admin.cluster_id

    return session.ask(query)


class Sweep(NamedTuple):
    """The state of a cluster: rows of :data:`BASELINE`, and one row of :data:`SWEEPS`."""

    baseline: pa.RecordBatch
    summary: pa.RecordBatch


def sweep(session: WireSession) -> Sweep:
    """Read all groups with their committed offsets, and the brokers' retention time of offsets.

    A group whose commits could not be read is omitted; ``complete`` is then false in all rows, and also if brokers may
    omit groups, without DESCRIBE on CLUSTER.
    """

    async def query(
        admin: WireClient,
    ) -> tuple[datetime, Outcome[ListedGroup], GroupResults[GroupCommits], int | str, int]:
        swept_at = datetime.now(UTC)  # another thread may have had its turn first
        listed = await admin.list_selected(Selection(among=ListFilter(with_states=True)))
        commits = await fetch_commits(admin.cluster, ResolvedSelection(listed.items).with_commits())
        return swept_at, listed, commits, await offsets_retention(admin.cluster), await _log_partitions(admin)

    swept_at, listed, commits, retention, partitions = session.ask(query)
    complete = not (listed.failures or listed.hidden_by or commits.failed)
    rows = [
        (swept_at, complete, group.group, kind_of(group.type), group.state, group.protocol_type, *commit, at)
        for group in listed.items
        for at in [partition_of(group.group, partitions) if partitions else None]
        if group.group not in commits.failed
        for commit in _commits(commits, group)
    ]
    known = (retention, None) if isinstance(retention, int) else (None, retention)
    found = len({row[2] for row in rows})
    return Sweep(record_batch(BASELINE, rows), record_batch(SWEEPS, [(swept_at, complete, found, *known)]))


def sample_heads(session: WireSession, partitions: Mapping[str, Iterable[int]]) -> pa.RecordBatch:
    """Sample start and end offsets: one batch of :data:`kgroups.history.tables.HEADS`, a row for each partition.

    The end is the high watermark. Unknown offsets are null, with the reason in ``error``.
    """
    requested = {topic: sorted(set(numbers)) for topic, numbers in sorted(partitions.items())}

    async def query(admin: WireClient) -> tuple[datetime, Logs]:
        sampled_at = datetime.now(UTC)
        logs, _ = await fetch_logs(admin.cluster, requested)
        return sampled_at, logs

    sampled_at, logs = session.ask(query)
    rows: list[Row] = []
    for topic, numbers in requested.items():
        known = logs.offsets.get(topic, {})
        for number in numbers:
            hole = logs.holes.get((topic, number))
            rows.append((sampled_at, topic, number, *known.get(number, LogOffsets()), hole))
    return record_batch(HEADS, rows)


def topic_names(session: WireSession) -> dict[str, str]:
    """Return the names of all visible topics, by topic ID; of the brokers that report IDs (Kafka 2.8)."""

    async def query(admin: WireClient) -> ClusterMetadata:
        return await admin.cluster.call_any(Metadata(None))

    topics = session.ask(query).topics
    return {topic_id_text(each.topic_id): each.topic for each in topics if each.topic_id}


def list_all(session: WireSession) -> Outcome[ListedGroup]:
    """List every group, sorted by name, with state and type if the brokers report them."""
    return session.ask(lambda admin: admin.list_selected(Selection()))


def describe_all(session: WireSession, listed: Iterable[ListedGroup]) -> Outcome[Group]:
    """Describe state and members of listed groups, sorted by name, without listing them again."""
    located = ResolvedSelection(tuple(listed))
    return session.ask(lambda admin: describe_located(admin.cluster, located))


def describe_all_offsets(
    session: WireSession,
    listed: Iterable[ListedGroup],
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
) -> Outcome[GroupOffsets]:
    """Describe members, committed offsets, and log start and end offsets of listed groups."""
    located = ResolvedSelection(tuple(listed))
    return session.ask(
        lambda admin: describe_located_offsets(admin.cluster, located, isolation=isolation),
    )


async def _log_partitions(admin: WireClient) -> int:
    """Return the number of partitions of ``__consumer_offsets``; 0 if it is unknown."""
    try:
        return len((await admin.cluster.refresh((OFFSETS_TOPIC,))).topics[0].leaders)
    except (KgroupsError, IndexError):
        return 0


def _commits(commits: GroupResults[GroupCommits], group: ListedGroup) -> Iterator[Row]:
    """Yield the columns of a commit in BASELINE; one row of nulls for a group without commits."""
    result = commits.found.get(group.group)
    topics = result[1].topics if result else {}
    if not any(topics.values()):
        yield (None,) * 5
    for topic, committed in topics.items():
        for commit in committed:
            yield (topic, commit.partition, commit.offset, commit.leader_epoch, commit.metadata)
