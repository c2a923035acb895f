"""Undo files of settings, in the format of :mod:`..operations.undo_file`, and their restore.

::

    {"schema": "kgroups/undo-settings/v1", "cluster_id": ..., "command": ..., "settings": 1}
    {"group": "g", "key": "consumer.session.timeout.ms", "old_value": null, "new_value": "60000"}
    {"result": "applied", "settings": [1]}

``null``: no value is set for the group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from kgroups.errors import Reason, UsageError

from ..counts import count
from ..groups import GroupId, check_sendable
from ..operations.origin import Mismatch, Origin, Source
from ..operations.undo_file import SETTINGS_SCHEMA, lines_of, parse_rows
from ..outcome import Failure, Outcome, Result, Scope
from .change import PlannedSetting, shown
from .setting import GroupSettings


def undo_lines(planned: Sequence[PlannedSetting], source: Source) -> Iterator[str]:
    """Yield the lines of a file, without line ends, before anything is changed."""
    items = [{"group": each.group, "key": each.name, "old_value": each.old, "new_value": each.new} for each in planned]
    return lines_of(SETTINGS_SCHEMA, source, "settings", items)


class UndoRow(NamedTuple):
    """A value that was set for a group before the run, and the value that the run planned to set."""

    group: GroupId
    key: str
    old: str | None
    new: str | None
    result: Result | None = None


class Restored(NamedTuple):
    """The values in an undo file, which are wanted again."""

    rows: tuple[UndoRow, ...]
    origin: Origin

    @property
    def groups(self) -> tuple[GroupId, ...]:
        return tuple(sorted({row.group for row in self.rows}))

    def on(self, cluster_id: str | None) -> tuple[str, ...]:
        """Return notices about the cluster.

        :raises UsageError: if the file belongs to another cluster, and that is not accepted.
        """
        return self.origin.on(cluster_id)[1]

    def of(self, found: GroupSettings) -> Outcome[tuple[str, str | None]]:
        """Return what to restore of a group: nothing that was never written, and nothing that has changed since."""
        wanted: list[tuple[str, str | None]] = []
        failures = []
        never = 0
        for row in self.rows:
            now = found.overrides.get(row.key)
            if row.group != found.group or now == row.old:
                continue
            if row.result is Result.FAILED:
                never += 1
            elif now != row.new and Mismatch.SETTING not in self.origin.accepted:
                message = (
                    f"{row.key} is not restored: it has changed since: {shown(row.new)} was written, now {shown(now)}"
                )
                hint = Mismatch.SETTING.hint
                failures.append(Failure(Scope.GROUP, found.group, message, reason=Reason.CHANGED, hint=hint))
            else:
                wanted.append((row.key, row.old))
        what = count(never, "setting")
        notice = f"group '{found.group}': {what} not restored: {self.origin.name} records that it was never written"
        return Outcome(tuple(wanted), tuple(failures), (notice,) if never else ())


def parse_undo(text: str, name: str) -> Restored:
    """Parse an undo file of settings.

    :raises UsageError: if the file is damaged or contains no settings; the message names the line.
    """
    rows, source = parse_rows(text, name, "setting", _row)
    if not rows:
        raise UsageError(f"{name}: the file contains no settings")
    return Restored(tuple(rows), Origin(name, source))


def accepting(restored: Restored, accepted: frozenset[Mismatch]) -> Restored:
    """Return the file with the mismatches that the user accepts."""
    return restored._replace(origin=replace(restored.origin, accepted=accepted))


def _row(where: str, item: Mapping[str, Any]) -> UndoRow:
    group, key = item.get("group"), item.get("key")
    if not isinstance(group, str) or not isinstance(key, str) or not group or not key:
        raise UsageError(f"{where}: its group or key is missing, or has the wrong type")
    if not {"old_value", "new_value"} <= item.keys():
        raise UsageError(f"{where}: its old_value or new_value is missing; use null for none")
    old, new = item["old_value"], item["new_value"]
    if not isinstance(old, str | None) or not isinstance(new, str | None):
        raise UsageError(f"{where}: its old_value or new_value has the wrong type")
    for text in (group, key, old or ""):
        check_sendable(text, where, "a value")
    return UndoRow(group, key, old, new)
