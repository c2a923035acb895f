"""Take a snapshot of groups, in the same batches as ``describe``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace

from kgroups.errors import Reason
from kgroups.model.groups import Group
from kgroups.model.offsets import Isolation, LogOffsets, Logs
from kgroups.model.operations.origin import Source
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import COMMITS_NOTICES, OMITTED_COMMITS_NOTICE, Acl
from kgroups.model.snapshot.snapshot import Extent, Snapshot, commits_of, has_configs
from kgroups.model.time_lag import FirstUnread, Position, position
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.protocol.error_codes import Code

from ..client import Client, WireOnly, wire_of
from ..query.first_unread import find_unread
from ..query.group_configs import fetch_group_configs
from ..query.select_groups import Selection


def extent_of(selection: Selection) -> Extent:
    """Return the selection as a snapshot records it."""
    regex = (f"regex:{selection.pattern.text}",) if selection.pattern else ()
    patterns = (*(glob.text for glob in selection.globs), *regex)
    topics, filtered = tuple(sorted(selection.topics)), selection.restricts
    return Extent(selection.everything, selection.names, patterns, topics, filtered)


async def take_snapshot(
    admin: Client, selection: Selection, source: Source, *, records: bool = False, topics: Iterable[str] = ()
) -> Outcome[Snapshot]:
    """Return a snapshot of the selected groups, with its failures, and the notices.

    A group is read as it is at that moment, with or without members: its commits first, then the ends of the logs.

    :param source: the run that takes it; cluster ID and topic IDs are added here.
    :param records: also read the first record at each committed offset.
    :param topics: also look up the IDs of these topics, on which no group may have an offset any more.
    """
    cluster = wire_of(admin, WireOnly.SNAPSHOTS)
    taken = _Taken()
    async with aclosing(admin.stream_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)) as batches:
        async for batch in batches:
            taken.add(batch)
    configs, failures = await fetch_group_configs(cluster, [each for each in taken.described if has_configs(each.type)])
    taken.failures += failures
    if unseen := sorted({*topics} - taken.topic_ids.keys()):
        named = await admin.topics(unseen)
        taken.topic_ids.update({name: each.topic_id for name, each in named.items() if each.topic_id})
    logs = Logs(taken.logs, topic_ids=taken.topic_ids)
    found: Mapping[Position, FirstUnread] = {}
    if records:
        found, failures = await find_unread(
            cluster, taken.positions(), isolation=Isolation.READ_UNCOMMITTED, checksums=True
        )
        taken.failures += failures
    snapshot = Snapshot(
        replace(source, cluster_id=admin.cluster_id, topic_ids=taken.topic_ids),
        extent_of(selection),
        tuple(each._replace(logs=logs) for each in taken.groups),
        logs,
        configs,
        {at: record for at, record in found.items() if record.failed is None},
        tuple(dict.fromkeys((*taken.failures, *taken.omitted()))),
        frozenset(taken.missing),
    )
    notices = [*taken.notices, *map(missing_topic, taken.missing)]
    return Outcome((snapshot,), snapshot.failures, tuple(notices), taken.hidden_by)


def missing_topic(topic: str) -> str:
    """Return the notice about a topic with committed offsets or assignments that does not exist."""
    return f"topic '{topic}' does not exist: its committed offsets have no log offsets"


class _Taken:
    def __init__(self) -> None:
        self.groups: list[GroupOffsets] = []
        self.logs: dict[str, dict[int, LogOffsets]] = {}
        self.topic_ids: dict[str, int] = {}
        self.failures: list[Failure] = []
        self.notices: dict[str, None] = {}
        self.missing: dict[str, None] = {}
        self.hidden_by: tuple[Acl, ...] = ()

    @property
    def described(self) -> list[Group]:
        return [each.group for each in self.groups]

    def add(self, batch: Outcome[GroupOffsets]) -> None:
        self.groups += batch.items
        for failure in batch.failures:
            if failure.scope is Scope.TOPIC and failure.code == Code.unknown_topic_or_partition:
                self.missing[failure.name] = None  # an answer, not a failure: it has no log offsets
            else:
                self.failures.append(failure)
        self.notices.update(dict.fromkeys(batch.notices))
        self.hidden_by = (*self.hidden_by, *batch.hidden_by)
        for logs in {id(each.logs): each.logs for each in batch.items}.values():
            # Batches overlap in topics. The later one has the later log end offsets.
            for topic, offsets in logs.offsets.items():
                self.logs.setdefault(topic, {}).update(offsets)
            self.topic_ids.update({topic: topic_id for topic, topic_id in logs.topic_ids.items() if topic_id})

    def positions(self) -> set[Position]:
        positions = (
            position(topic, partition, commit.offset, self.logs.get(topic, {}).get(partition, LogOffsets()))
            for each in self.groups
            for (topic, partition), commit in commits_of(each).items()
        )
        return {each for each in positions if each}

    def omitted(self) -> list[Failure]:
        """Return what brokers may have omitted, as failures: a snapshot without it is not complete."""
        found = [
            Failure(Scope.CLUSTER, "", f"groups may be missing: needs {acl}", acl=acl, reason=Reason.NOT_AUTHORIZED)
            for acl in dict.fromkeys(self.hidden_by)
        ]
        for notice in [each for each in self.notices if each in COMMITS_NOTICES]:
            del self.notices[notice]
            reason = Reason.NOT_AUTHORIZED if notice == OMITTED_COMMITS_NOTICE else Reason.BROKER_ERROR
            found.append(Failure(Scope.CLUSTER, "", f"offsets may be missing: {notice}", reason=reason))
        return found
