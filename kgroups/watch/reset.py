"""Plan and execute a reset from the page of a group, through the code of ``kgroups reset-offsets``."""

from __future__ import annotations

import io
import shlex
from typing import Any

import click

from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.client import changing
from kgroups.cli.change.operation import check_changeable, split_topics
from kgroups.cli.change.reset import Reset
from kgroups.cli.change.reset_request import reset_request
from kgroups.cli.change.safety import Safety
from kgroups.cli.change.undo_file import UndoFile
from kgroups.cli.commands._change_options import safety_options, target_options
from kgroups.cli.frame.options import ConnectionOptions
from kgroups.cli.frame.run_query import run_query
from kgroups.cli.frame.selected_groups import GroupOptions
from kgroups.errors import KgroupsError, UsageError
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.outcome import Outcome
from kgroups.model.views.operation_rows import reset_row
from kgroups.net.cluster import Cluster
from kgroups.render.act_views import RESET_OFFSETS
from kgroups.render.failures import failure_lines, hint_lines, notice_lines
from kgroups.render.output import write_outcome

from .state.watching import GroupKey


class PlannedReset:
    """The plan of one group that is shown, and exactly what is written later."""

    def __init__(self, connection: ConnectionOptions, key: GroupKey, target: str) -> None:
        """Parse the options of ``reset-offsets``; :meth:`plan` contacts the cluster of the group.

        :raises KgroupsError: if they, or the settings of the cluster, are invalid, or the group is outside Kafka.
        """
        self._request, self._safety = _parsed(key.group, target)
        self._connection = connection.of(key.cluster)
        check_changeable(self._connection.settings.positions, self._request.selection)
        self._planned: tuple[PlannedOffset, ...] = ()
        self._cluster_id: str | None = None
        self.restore: str | None = None
        """The command that restores the old offsets, once they are in a file."""

    def plan(self) -> tuple[list[str], bool]:
        """Plan; return the lines of the dry run, and whether anything can be written. Waits for brokers."""
        planned, self._cluster_id = run_query(
            self._connection.settings,
            changing(Reset(self._request, self._safety).plan),
            debug=False,
            quiet=True,
        )
        offsets, _ = split_topics(planned.items)
        self._planned = tuple(offsets)
        cluster = self._connection.cluster(self._cluster_id)
        notice = f"dry run on {cluster}: nothing was changed" if planned.items else f"nothing to do on {cluster}"
        return _lines(planned.with_items(map(reset_row, self._planned)).with_failures((), (notice,))), bool(
            planned.items
        )

    def execute(self) -> list[str]:
        """Write the plan; return the lines of the results, and the command that restores the old offsets.

        The command has a line of its own. Waits for brokers.
        """
        notes: list[str] = []
        undo = _UndoFile(None, self._connection, notes.append)

        async def write(cluster: Cluster) -> Outcome[Any]:
            if self._cluster_id and cluster.cluster_id and self._cluster_id != cluster.cluster_id:
                raise UsageError("the bootstrap servers now belong to another cluster; nothing was changed")
            safety = self._safety._replace(execute=True)
            safe = await safety.screen_offsets(cluster, Outcome(self._planned))
            if not safe.items:
                return safe
            applied = await Reset(self._request, safety).apply(cluster, safe.items, undo)
            return applied.with_failures((*safe.failures, *undo.incomplete()), safe.notices)

        try:
            outcome, _ = run_query(self._connection.settings, changing(write), debug=False, quiet=True)
            lines = _lines(outcome)
        except (KgroupsError, OSError) as error:
            lines = [f"failed: {error}"]
        if undo.written is None:
            return [*lines, *notes]
        self.restore = undo.suggestion
        return [*lines, *notes, "", f"The old offsets are in {undo.written}", "To restore them:", self.restore]


class _UndoFile(UndoFile):
    """An undo file whose name and command are shown after the results, and not in a note."""

    def _announce(self) -> None:
        self.written = self._created


_OPTIONS = click.Command("reset-offsets", add_help_option=False)
_GROUPS = tuple((group, group.add_to(_OPTIONS)) for group in (target_options, safety_options))


def _parsed(group: str, text: str) -> tuple[ResetRequest, Safety]:
    """Parse the options of the target; return the request and the safety options.

    :raises UsageError: if it is invalid.
    """
    try:
        values = _OPTIONS.make_context("reset-offsets", shlex.split(text)).params
        target, safety = (group.collected({name: values[name] for name in names}) for group, names in _GROUPS)
    except click.ClickException as error:
        raise UsageError(error.format_message()) from None
    except ValueError as error:  # an open quotation mark
        raise UsageError(str(error)) from None
    if safety.when_empty is not None or target.scenarios["from_file"] is not None:
        raise UsageError("--when-empty and --from-file: use kgroups reset-offsets")
    request, _ = reset_request(GroupOptions((), (group,), None, False), target)
    return request, safety


def _lines(outcome: Outcome[Any]) -> list[str]:
    """Return the table of ``reset-offsets``, notices, failures, and hints."""
    out = io.StringIO()
    if outcome.items:
        write_outcome(outcome, RESET_OFFSETS, fmt="plain", stream=out)
    failures = outcome.failures
    return [
        *out.getvalue().splitlines(),
        *notice_lines(outcome.notices),
        *failure_lines(failures),
        *hint_lines(failures),
    ]
