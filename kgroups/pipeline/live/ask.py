"""Asks the cluster as the commands ask it, and waits: for callers that know no event loop of their own.

Every function opens the cluster, asks, and closes it. Where nothing else is said it raises
:class:`~kgroups.errors.ClusterUnreachable` when no bootstrap server answers, and other
:class:`~kgroups.errors.KgroupsError` when the brokers are none that can be asked; all else that fails is data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeVar

import pyarrow as pa

from kgroups.admin.query.describe import describe_located, describe_located_offsets
from kgroups.admin.query.group_offsets import fetch_commits
from kgroups.admin.query.list_groups import EVERY_GROUP, ListFilter
from kgroups.admin.query.log_offsets import fetch_logs
from kgroups.admin.query.select_groups import ResolvedSelection
from kgroups.admin.routing.query_coordinators import GroupResults
from kgroups.admin.wire import WireAdmin
from kgroups.config.settings import ClientSettings
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.offsets import GroupCommits, Isolation, LogOffsets, Logs
from kgroups.model.outcome import Outcome
from kgroups.model.views.offset_row import GroupOffsets

from ..tables import BASELINE, HEADS
from .rows import Row, kind_of, record_batch

T = TypeVar("T")


def cluster_id(settings: ClientSettings) -> str | None:
    """Which cluster it is; ``None`` where its brokers are too old to tell."""

    async def question(admin: WireAdmin) -> str | None:
        return admin.cluster_id

    return _ask(settings, question)


def sweep(settings: ClientSettings) -> pa.RecordBatch:
    """All groups with all that they have committed: one batch of :data:`kgroups.pipeline.tables.BASELINE`.

    A group whose commits could not be read is left out, and then nothing is ``complete``.
    """
    swept_at = datetime.now(UTC)

    async def question(admin: WireAdmin) -> tuple[Outcome[ListedGroup], GroupResults[GroupCommits]]:
        listed = await admin.list_groups(ListFilter(with_states=True))
        return listed, await fetch_commits(admin.cluster, ResolvedSelection(listed.items).with_commits())

    listed, commits = _ask(settings, question)
    whole = not listed.failures and not commits.failed
    rows = [
        (swept_at, whole, group.group_id, kind_of(group.type), group.state, group.protocol_type, *commit)
        for group in listed.items
        if group.group_id not in commits.failed
        for commit in _commits(commits, group)
    ]
    return record_batch(BASELINE, rows)


def sample_heads(settings: ClientSettings, partitions: Mapping[str, Iterable[int]]) -> pa.RecordBatch:
    """Where the logs start and end: one batch of :data:`kgroups.pipeline.tables.HEADS`, a row for each partition.

    The end is the high watermark. What nobody could say is null, and ``error`` says why.
    """
    wanted = {topic: sorted(set(numbers)) for topic, numbers in sorted(partitions.items())}
    sampled_at = datetime.now(UTC)

    async def question(admin: WireAdmin) -> Logs:
        logs, _ = await fetch_logs(admin.cluster, wanted)
        return logs

    logs = _ask(settings, question)
    rows: list[Row] = []
    for topic, numbers in wanted.items():
        known = logs.offsets.get(topic, {})
        for number in numbers:
            hole = logs.holes.get((topic, number))
            rows.append((sampled_at, topic, number, *known.get(number, LogOffsets()), hole))
    return record_batch(HEADS, rows)


def list_all(settings: ClientSettings) -> Outcome[ListedGroup]:
    """Every group, sorted by name; its state and kind where the brokers tell them."""
    return _ask(settings, lambda admin: admin.list_groups(EVERY_GROUP))


def describe_all(settings: ClientSettings, listed: Iterable[ListedGroup]) -> Outcome[Group]:
    """State and members of listed groups, sorted by name; they are not listed or looked up again."""
    located = ResolvedSelection(tuple(listed))
    return _ask(settings, lambda admin: describe_located(admin.cluster, located))


def describe_all_offsets(
    settings: ClientSettings,
    listed: Iterable[ListedGroup],
    *,
    isolation: Isolation = Isolation.READ_UNCOMMITTED,
) -> Outcome[GroupOffsets]:
    """The same, with commits and both ends of the logs."""
    located = ResolvedSelection(tuple(listed))
    return _ask(
        settings,
        lambda admin: describe_located_offsets(admin.cluster, located, isolation=isolation),
    )


def _ask(settings: ClientSettings, question: Callable[[WireAdmin], Awaitable[T]]) -> T:
    async def run() -> T:
        admin = await WireAdmin.connect(settings)
        try:
            return await question(admin)
        finally:
            await admin.close()

    return asyncio.run(run())


def _commits(commits: GroupResults[GroupCommits], group: ListedGroup) -> Iterator[Row]:
    """The last columns of BASELINE; once null for a group that has committed nothing."""
    answer = commits.found.get(group.group_id)
    topics = answer[1].topics if answer else {}
    if not any(topics.values()):
        yield (None,) * 5
    for topic, committed in topics.items():
        for commit in committed:
            yield (topic, commit.partition, commit.offset, commit.leader_epoch, commit.metadata)
