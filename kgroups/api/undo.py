"""Undo in the Python API: the writes of a change, and the scenario that restores the earlier state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kgroups.admin.change.apply.chunks import source_of
from kgroups.admin.change.apply.interruption import Interruption
from kgroups.admin.client import Cluster
from kgroups.model.offsets import PlanKey
from kgroups.model.operations.origin import Origin, Source
from kgroups.model.operations.reset import FromPlan, PlannedOffset
from kgroups.model.operations.results import AppliedOffset, DeletedGroup, GroupDeletion
from kgroups.model.outcome import Result
from kgroups.model.settings.change import AppliedSetting
from kgroups.model.settings.undo import Restored, UndoRow


class Change(NamedTuple):
    """A change that was attempted: the cluster and its topics, the plan, and the result of each offset."""

    source: Source
    planned: tuple[PlannedOffset, ...]
    results: Mapping[PlanKey, Result]

    def scenario(self) -> FromPlan:
        """Return the scenario that restores the offsets before the change."""
        origin = Origin(
            "this change",
            self.source,
            written={entry.key: entry.after for entry in self.planned},
            results=self.results,
            beyond_end=frozenset(entry.key for entry in self.planned if entry.beyond_end),
        )
        types = {entry.group: entry.kind for entry in self.planned if entry.kind is not None}
        return FromPlan({entry.key: entry.before for entry in self.planned}, exact=True, kinds=types, origin=origin)


class SettingsChange(NamedTuple):
    """A change of settings that was attempted: the cluster, and the plan with its results."""

    source: Source
    applied: tuple[AppliedSetting, ...]

    def restored(self) -> Restored:
        """Return the values before the change, which are wanted again."""
        rows = (UndoRow(*each.planned.key, each.planned.old, each.planned.new, each.result) for each in self.applied)
        return Restored(tuple(rows), Origin("this change", self.source))


class UndoMemory:
    """Remembers the cluster and the topic IDs of a change, and corrections; the results are in its outcome."""

    def __init__(self, cluster: Cluster) -> None:
        self.stop = Interruption()
        self.source = Source(cluster_id=cluster.cluster_id)
        self.amended: dict[PlanKey, PlannedOffset] = {}

    async def save(self, cluster: Cluster, planned: Sequence[Any]) -> None:
        """Look up the topic IDs of planned offsets."""
        self.source = await source_of(cluster, (each for each in planned if isinstance(each, PlannedOffset)))

    def amend(self, planned: Sequence[PlannedOffset]) -> None:
        """Remember the offsets as they were, which the outcome of a deletion does not have."""
        self.amended.update({entry.key: entry for entry in planned})

    def record(self, results: Iterable[Any]) -> None:
        """Ignore results."""

    def close(self) -> None:
        """Close nothing."""


def offsets_change(source: Source, done: Iterable[AppliedOffset]) -> Change:
    """Return the change of written or deleted offsets."""
    done = tuple(done)
    results = {each.planned.key: each.result for each in done}
    return Change(source, tuple(each.planned for each in done), results)


def deletion_change(undo: UndoMemory, planned: Iterable[GroupDeletion], done: Iterable[DeletedGroup]) -> Change:
    """Return the change of deleted groups."""
    entries = tuple(({entry.key: entry for group in planned for entry in group.as_plan()} | undo.amended).values())
    results = {each.group: each.result for each in done}
    added = {entry.topic: entry.seen.topic_id for entry in undo.amended.values() if entry.seen.topic_id}
    source = replace(undo.source, topic_ids={**added, **undo.source.topic_ids})
    return Change(source, entries, {entry.key: results.get(entry.group, Result.FAILED) for entry in entries})
