"""Change groups of several clusters: plan all of them at the same time, then write one after the other.

Nothing is written on any cluster unless the plan of each is complete. A failure, an unknown result, or a signal stops
the change before the next cluster.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgroups.admin.change.apply.interruption import Interruption
from kgroups.admin.fleet import wanted_of
from kgroups.errors import KgroupsError, NotSent, OutcomeUnknown, UsageError
from kgroups.model.clusters import ClusterAnswer, ids_of, merge_clusters
from kgroups.model.counts import count
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.net.fanout import run
from kgroups.render.views import with_cluster

from ..frame.exit_status import print_below
from ..frame.options import ConnectionOptions
from ..frame.progress import ProgressLine, progress_line
from ..frame.run_query import Answer, SeveralClusters, open_and_query
from .confirmation import Confirmation
from .operation import Operation, Plan, Target
from .undo_file import UndoFile, check_free, print_note, undo_path_of


class FleetChange:
    """The change of several clusters, each with a plan and an undo file of its own."""

    def __init__(self, connection: ConnectionOptions, fleet: SeveralClusters, operation: Operation[Any]) -> None:
        """Check the paths of the undo files before a cluster is contacted.

        :raises UsageError: if one already exists or cannot be created.
        """
        self._fleet = fleet.loaded_once()
        self._connection = connection._replace(fleet=self._fleet)
        self.operation = operation
        self._undo_paths = _undo_paths(operation.undo_path, fleet.names)
        self._targets: dict[str, Target[Any]] = {}
        self._ids: Mapping[str, str | None] = {}
        self._unchanged: dict[str, None] = {}
        self._incomplete: dict[str, None] = {}
        self.stop = Interruption()
        self.view = with_cluster(operation.view)

    @property
    def undo_files(self) -> list[UndoFile]:
        return [target.undo for target in self._targets.values() if target.undo and target.undo.written]

    def plan(self) -> Plan:
        """Return the rows of all clusters, each with the name of its cluster; one that fails is a failure."""
        operation = self.operation
        queries = dict.fromkeys(self._fleet.names, operation.hinted_plan)
        try:
            answers = self._fleet.answers(queries, debug=self._connection.debug)
        except KeyboardInterrupt:
            print_below("kgroups: interrupted: nothing was changed")
            raise
        wanted = wanted_of(operation.selection) if operation.selection else frozenset()
        rows, shown = merge_clusters(answers, lambda name, item: (name, *operation.row(item)), wanted)
        self._ids = ids_of(shown)
        self._targets = {each.cluster: self._target(each) for each in shown if each.outcome.items}
        incomplete = [each.cluster for each in shown if each.incomplete]
        where = f"{count(len(shown), 'cluster')} ({', '.join(self._ids)})"
        return Plan(rows, None, where, _blocked(incomplete))

    def confirmed(self, confirmation: Confirmation) -> bool:
        question = self.operation.question
        lines = [
            f"{name}: {question(target.planned.items)} on {target.where}" for name, target in self._targets.items()
        ]
        lines += [f"{name}: nothing to do" for name in self._ids if name not in self._targets]
        return confirmation.confirm_all(lines, count(len(self._targets), "cluster"))

    def apply(self) -> tuple[Outcome[Any], None]:
        answers: list[ClusterAnswer] = []
        run(self._apply(answers))
        applied, _ = merge_clusters(answers, lambda name, row: (name, *row))
        if len(self._unchanged) == len(self._targets) or not self._incomplete:
            return applied, None
        rest = _options(self._incomplete)
        hint = f"to continue, select only the clusters that are not complete: {rest} --fleet"
        failures = (
            each._replace(hint=each.hint or hint) if each.cluster in self._incomplete else each
            for each in applied.failures
        )
        return applied._replace(failures=tuple(failures)), None

    def envelope(self) -> dict[str, object]:
        if not self.operation.saves_offsets:
            return {"clusters": self._ids}
        undo_files = {name: each.undo for name, each in self._targets.items() if each.undo}
        written = {name: str(undo.written) for name, undo in undo_files.items() if undo.written}
        return {"clusters": self._ids, "undo_files": written}

    def close(self) -> None:
        """Close nothing: no connection is kept."""

    def _target(self, answer: ClusterAnswer) -> Target[Any]:
        name = answer.cluster
        connection = self._connection.of(name)

        def tell(note: str) -> None:
            print_note(f"{name}: {note}")

        path = self._undo_paths[name]
        undo = self.operation.undo_file(path, connection, tell=tell, stop=self.stop, cluster=name)
        return Target(connection, undo, answer.cluster_id, answer.outcome)

    async def _apply(self, answers: list[ClusterAnswer]) -> None:
        """Write one cluster after the other, and append what each answered."""
        self.stop.listen()
        halted = ""
        async with progress_line() as line:
            for name, target in self._targets.items():
                if halted:
                    outcome = self._not_changed(name, target, NotSent(halted))
                else:
                    outcome = await self._write(name, target, line)
                answers.append(ClusterAnswer(name, target.cluster_id, outcome))
                if outcome.failures:
                    self._incomplete[name] = None
                if self.stop.signal:
                    halted = self.stop.reason
                elif outcome.failures and not halted:
                    halted = f"the change of cluster {name} is not complete"

    async def _write(self, name: str, target: Target[Any], line: ProgressLine) -> Outcome[Any]:
        """Write one cluster; the result has a row for each planned item."""
        results: list[Answer] = []
        sent = self.stop.sent
        error: KgroupsError | None = None
        query = target.write(self.operation)
        try:
            await self.stop.bound(
                open_and_query(target.connection.settings, query, self._connection.debug, line, results.append)
            )
        except KgroupsError as raised:
            error = raised
        if results and results[0][0].items:
            return results[0][0]
        if self.stop.sent == sent:
            return self._not_changed(name, target, error or NotSent(self.stop.reason))
        return self._rows(name, target, Result.UNKNOWN, error or OutcomeUnknown(self.stop.reason))

    def _not_changed(self, name: str, target: Target[Any], error: KgroupsError) -> Outcome[Any]:
        self._unchanged[name] = None
        return self._rows(name, target, Result.FAILED, error)

    def _rows(self, name: str, target: Target[Any], result: Result, error: KgroupsError) -> Outcome[Any]:
        """Return all planned items of a cluster with the same result."""
        what = "the result is unknown" if result is Result.UNKNOWN else "not changed"
        failure = Failure.of(error.within(what), Scope.CLUSTER, name)
        rows = (self.operation.row(item, (result.value, failure.message)) for item in target.planned.items)
        return Outcome(tuple(rows), (failure,))


def _blocked(incomplete: Sequence[str]) -> str:
    if not incomplete:
        return ""
    without = _options(f"!{name}" for name in incomplete)
    return f"the plan of {', '.join(incomplete)} is not complete; to change only the others, add {without}"


def _options(profiles: Iterable[str]) -> str:
    return " ".join(f"--profile {shlex.quote(name)}" for name in profiles)


def _undo_paths(path: Path | None, names: Sequence[str]) -> dict[str, Path | None]:
    """Return the path of the undo file of each cluster."""
    if path is None:
        return dict.fromkeys(names)
    paths = {name: undo_path_of(path, name) for name in names}
    owners: dict[Path, str] = {}
    for name, each in paths.items():
        check_free(each)
        if owners.setdefault(each, name) != name:
            raise UsageError(f"--undo-file: profiles {owners[each]} and {name} have the same file name {each}")
    return dict(paths)
