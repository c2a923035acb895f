"""Compare two states of groups: of clusters, and of files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kgroups.admin.query.pattern import Glob, compile_pattern
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.snapshot.file import read_snapshot
from kgroups.config.settings import ClientSettings
from kgroups.errors import EXIT_FAILED, KgroupsError, Reason
from kgroups.model.counts import count
from kgroups.model.outcome import NO_MATCH, NOT_FOUND, Failure, NoMatch, Outcome, Scope
from kgroups.model.snapshot.compare import What, compare
from kgroups.model.snapshot.snapshot import Extent, Snapshot
from kgroups.render.snapshot_views import DIFF

from ..frame.options import PARTS
from ..frame.output import Shape, or_error_envelope, show
from ..frame.selected_groups import GroupOptions
from .live_snapshot import Live, live_snapshots


class Side(NamedTuple):
    """A state to compare: a file that was read, or a cluster to query."""

    label: str
    snapshot: Snapshot | None = None
    settings: ClientSettings | None = None


def file_side(path: Path) -> Side:
    """Return the state in a file.

    :raises UsageError: if it is not a complete and unchanged snapshot.
    """
    return Side(str(path), read_snapshot(path))


def show_differences(
    sides: tuple[Side, Side], shape: Shape, only: tuple[str, ...], chosen: GroupOptions, *, debug: bool
) -> int:
    """Show how two states differ; return 0 if they are equal, and 1 if they differ or something is unknown.

    A cluster is queried for the groups of the file that it is compared with, or for all groups; two clusters are
    queried at the same time.
    """
    shape.check(DIFF)
    selection = chosen.selection() if chosen.any_given else None
    what = tuple(map(What, only or PARTS))
    first, second = sides
    clusters = [
        Live(
            side.settings,
            _live_selection(selection, other.snapshot),
            What.RECORDS in what and bool(other.snapshot and other.snapshot.records),
            tuple(other.snapshot.source.topic_ids) if other.snapshot and What.TOPICS in what else (),
        )
        for side, other in ((first, second), (second, first))
        if side.settings
    ]
    taken = live_snapshots(clusters, debug=debug)
    if any(isinstance(each, KgroupsError) for each in taken):
        return _show_errors([side.label for side in sides if side.settings], taken, shape)
    live = (each for each in taken if isinstance(each, Outcome))
    states = []
    notices: list[str] = []
    failures: list[Failure] = []
    for side in sides:
        state = side.snapshot
        if state is None:
            outcome = next(live)
            (state,) = outcome.items
            notices += (f"{side.label}: {notice}" for notice in outcome.notices if not isinstance(notice, NoMatch))
        elif selection is not None:
            kept = _selected(selection, state)
            state = state._replace(groups=tuple(each for each in state.groups if kept(each.group.group)))
        states.append(state)
        failures += (each._replace(message=f"{side.label}: {each.message}") for each in state.partial)
    a, b = states
    rows = tuple(compare(a, b, what))
    if a.source.cluster_id != b.source.cluster_id:
        notices.append(
            f"the clusters differ: {first.label} is of {a.source.cluster_id}, {second.label} of {b.source.cluster_id}"
        )
    groups = {each.group.group for state in states for each in state.groups}
    if selection is not None and not failures:
        failures += _unmatched(selection, groups)
    if not rows and not failures:
        notices.append(f"A ({first.label}) and B ({second.label}) are equal: {count(len(groups), 'group')}")
    code = show(Outcome(rows, tuple(failures), tuple(notices)), a.source.cluster_id, shape, DIFF)
    return max(code, EXIT_FAILED) if rows else code


def _unmatched(selection: Selection, groups: Collection[str]) -> list[Failure]:
    """Return a failure for each name and pattern that selects no group of both states: mostly a typing error."""
    absent = partial(Failure, Scope.GROUP, message="neither A nor B has this group", reason=Reason.GROUP_NOT_FOUND)
    missing = [absent(name=name, error=NOT_FOUND) for name in selection.names if name not in groups]
    patterns = selection._replace(globs=tuple(glob for glob in selection.globs if glob.text not in groups))
    missing += (*patterns.unmatched_globs(groups), *patterns.unmatched(groups))
    if not (groups or missing or selection.everything):
        missing.append(Failure(Scope.CLUSTER, "", NO_MATCH, reason=Reason.NO_MATCH))
    return missing


def _show_errors(labels: Sequence[str], taken: Sequence[object], shape: Shape) -> int:
    """Name each cluster that failed, and return the exit code.

    :raises KgroupsError: the error of the only cluster, or of invalid options.
    """
    errors = {label: each for label, each in zip(labels, taken, strict=True) if isinstance(each, KgroupsError)}

    def check() -> None:
        for error in errors.values():
            if len(labels) == 1 or error.exit_code != EXIT_FAILED:
                raise error

    or_error_envelope(shape, DIFF, check)
    failures = (Failure.of(error, Scope.CLUSTER, label) for label, error in errors.items())
    return show(Outcome(failures=tuple(failures)), None, shape, DIFF)


def _live_selection(selection: Selection | None, other: Snapshot | None) -> Selection:
    """Return the groups of a cluster to compare with a file: those of the file, and those of its selection."""
    if other is None:
        return selection or Selection(everything=True)
    names = {each.group.group for each in other.groups}
    if selection is not None:
        kept = _selected(selection, other)
        return selection._replace(names=tuple(sorted({*selection.names, *filter(kept, names)})))
    extent = other.extent
    names.update(extent.names)
    if extent.filtered or extent.topics:
        return Selection(tuple(sorted(names)))
    return _patterns(extent)._replace(names=tuple(sorted(names)), everything=extent.everything)


def _patterns(extent: Extent) -> Selection:
    prefix = "regex:"
    regexes = [text.removeprefix(prefix) for text in extent.patterns if text.startswith(prefix)]
    globs = tuple(Glob(text) for text in extent.patterns if not text.startswith(prefix))
    return Selection(pattern=compile_pattern(regexes[0], "--regex") if regexes else None, globs=globs)


def _selected(selection: Selection, snapshot: Snapshot) -> Callable[[str], bool]:
    return selection.settled({each.group.group for each in snapshot.groups}).matches
