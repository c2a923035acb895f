"""An operation that changes groups, as a command defines it, and its application to one cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from kgroups.admin.client import changing
from kgroups.admin.query.select_groups import Selection
from kgroups.config.positions import PositionSource
from kgroups.errors import UsageError
from kgroups.model.counts import count
from kgroups.model.operations.results import TopicDeletion
from kgroups.model.outcome import Outcome, Result
from kgroups.model.views.operation_rows import NOT_EXECUTED, ResultAndError, result_and_error
from kgroups.net.cluster import Cluster
from kgroups.render.views import View

from ..frame.options import ConnectionOptions
from ..frame.run_query import Query, hinted

if TYPE_CHECKING:
    from .undo_file import UndoFile

P = TypeVar("P")

NOTHING_TO_DO = "nothing to do"


class Operation(ABC, Generic[P]):
    """One operation of a command: its subclass plans it, shows it as rows, asks about it, and applies it.

    :cvar verb: the first word of the question.
    :cvar item: what is changed, in the singular.
    :cvar saves_offsets: whether the old offsets or settings are saved: those of members are not changed.
    :ivar selection: the selected groups; if there are none, the reason is shown.
    :ivar undo_path: where the old offsets are saved; ``None``: a new name in the current directory.
    :ivar undoes: the command that the operation undoes, if it restores from an undo file.
    """

    view: View
    verb: str
    item: str
    saves_offsets = True
    selection: Selection | None
    undo_path: Path | None
    undoes: str | None = None

    @abstractmethod
    async def plan(self, cluster: Cluster) -> Outcome[P]: ...

    @abstractmethod
    def row(self, item: P, result: ResultAndError = NOT_EXECUTED) -> Any:
        """Return the row of a planned item, or of that item and its result and error."""

    def planned_rows(self, planned: Outcome[P]) -> Outcome[Any]:
        """Return the rows of a plan."""
        return planned.with_items(map(self.row, planned.items))

    def blocked(self, planned: Sequence[P]) -> str:
        """Return why nothing of the plan can be executed; empty if something can."""
        return ""

    def question(self, planned: Sequence[Any]) -> str:
        """Return the question about all items without a question mark: the name of the cluster follows."""
        groups = len({each.group for each in planned})
        return f"{self.verb} {count(len(planned), self.item)} of {count(groups, 'group')}"

    @abstractmethod
    async def apply(self, cluster: Cluster, planned: Sequence[P], undo: UndoFile) -> Outcome[Any]:
        """Apply planned items, each group checked again right before the change; return rows with results."""

    def rows(self, applied: Outcome[Any]) -> Outcome[Any]:
        """Return the rows of planned items that were applied."""
        return applied.with_items(
            self.row(each.planned, result_and_error(each.result, each.failure)) for each in applied.items
        )

    def undo_file(self, path: Path | None, connection: ConnectionOptions, **rest: Any) -> UndoFile:
        """Return the undo file for a cluster; its parameters are those of :class:`.UndoFile`.

        :raises UsageError: if it already exists or cannot be created.
        """
        from .undo_file import UndoFile  # a dry run needs none

        return UndoFile(path, connection, undoes=self.undoes, **rest)

    @property
    def hinted_plan(self) -> Query:
        return hinted(changing(self.plan), self.selection)


class Plan(NamedTuple):
    """The planned rows, the cluster for messages, and the reason why execution is blocked."""

    rows: Outcome[Any]
    cluster_id: str | None
    where: str
    blocked: str = ""

    def notice(self, *, execute: bool) -> str:
        """Return the notice of a plan that is not executed."""
        if not execute and self.rows.items:
            more = f"--execute would change nothing: {self.blocked}" if self.blocked else "add --execute to apply"
            return f"dry run on {self.where}: nothing was changed; {more}"
        if self.blocked:
            return f"nothing was changed on {self.where}: {self.blocked}"
        return f"{nothing_planned(self.rows)} on {self.where}"


class Target(NamedTuple, Generic[P]):
    """One cluster of an operation: what is planned for it, and where its old offsets are saved if it is executed."""

    connection: ConnectionOptions
    undo: UndoFile | None
    cluster_id: str | None
    planned: Outcome[P]

    @property
    def where(self) -> str:
        return self.connection.cluster(self.cluster_id)

    def write(self, operation: Operation[P]) -> Query:
        """Return the query that applies the plan to this cluster only."""

        async def write(cluster: Cluster) -> Outcome[Any]:
            assert self.undo
            _check_same(self.cluster_id, cluster.cluster_id)
            return await execute(operation, cluster, self.planned.items, self.undo)

        return changing(write)


async def execute(operation: Operation[P], cluster: Cluster, planned: Sequence[P], undo: UndoFile) -> Outcome[Any]:
    """Apply planned items until a signal arrives; the result includes a notice that names the cluster.

    An incomplete undo file is a failure.
    """
    undo.stop.listen()
    before = undo.stop.sent
    applied = await undo.stop.bound(operation.apply(cluster, planned, undo)) or Outcome()
    applied = applied.with_failures(undo.incomplete())
    if not applied.items:
        return applied
    where = undo.connection.cluster(cluster.cluster_id)
    if undo.stop.sent == before:
        notice = f"no change was sent to {where}"
    elif {each.result for each in applied.items} - {None} == {Result.FAILED}:
        notice = f"nothing was changed on {where}: each change failed"
    else:
        notice = f"executed on {where}"
    return applied.with_failures((), (notice,))


def split_topics(planned: Iterable[P | TopicDeletion]) -> tuple[list[P], list[TopicDeletion]]:
    """Return the planned items without the internal topics to delete, and these topics."""
    items: list[P] = []
    topics: list[TopicDeletion] = []
    for each in planned:
        if isinstance(each, TopicDeletion):
            topics.append(each)
        else:
            items.append(each)
    return items, topics


def nothing_planned(planned: Outcome[Any]) -> str:
    return "nothing was changed" if planned.failures else NOTHING_TO_DO


def check_changeable(outside: Iterable[PositionSource], selection: Selection | None) -> None:
    """Check that no group is named whose positions are outside Kafka.

    :raises UsageError: if one is.
    """
    for source in outside:
        if selection and source.name in selection.names:
            raise UsageError(
                f"{source.name!r} is read-only: its positions are in the checkpoint of a Spark query; to change them, "
                "start the query with a new checkpoint and the option startingOffsets"
            )


def _check_same(planned: str | None, now: str | None) -> None:
    """Check that the plan was made for this cluster.

    :raises UsageError: if the bootstrap servers belong to another cluster now.
    """
    if planned and now and planned != now:
        raise UsageError(
            f"the plan is for cluster {planned}, but the bootstrap servers now belong to cluster {now}; "
            "nothing was changed"
        )
