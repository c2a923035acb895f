"""``kgroups settings``: show the dynamic configuration of groups, compare it with a file, and change it."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

from kgroups.admin.client import Client, WireOnly, wire_of
from kgroups.admin.query.group_configs import describe_settings
from kgroups.admin.query.pattern import Glob
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import EXIT_FAILED, UsageError
from kgroups.model.counts import count, some
from kgroups.model.operations.origin import Mismatch
from kgroups.model.operations.undo_file import SETTINGS_SCHEMA, begins_undo
from kgroups.model.outcome import Outcome
from kgroups.model.settings.change import SetAll, UnsetAll
from kgroups.model.settings.declared import Declared, drift, parse_declared, unknown_keys, unmatched
from kgroups.model.settings.setting import setting_rows
from kgroups.model.settings.undo import Restored, accepting, parse_undo
from kgroups.render.settings_views import DRIFT
from kgroups.render.settings_views import SETTINGS as VIEW

from .change.apply_plan import apply_plan
from .change.change_settings import ChangeSettings
from .change.confirmation import Confirmation
from .change.plan_source import chosen_in_file, read_text
from .frame.options import ConnectionOptions, split_values
from .frame.output import Shape, or_error_envelope, show
from .frame.run_query import hinted, query_and_show, run_query
from .frame.selected_groups import GroupOptions, check_name


def show_settings(
    connection: ConnectionOptions, shape: Shape, chosen: GroupOptions, keys: tuple[str, ...], overridden: bool
) -> int:
    """Run ``kgroups settings show``; return the exit code."""
    selection = chosen.selection()
    globs = split_values(keys)

    async def query(admin: Client) -> Outcome[Any]:
        found = await describe_settings(wire_of(admin, WireOnly.SETTINGS), selection)
        rows = tuple(chain.from_iterable(setting_rows(each, globs, overridden=overridden) for each in found.items))
        nothing = found.items and not rows and not found.failures
        text = "no values are set for the selected groups" if overridden else "no setting has one of these names"
        return found.with_items(rows).with_failures((), (text,) if nothing else ())

    return query_and_show(connection, shape, VIEW, query, selection=selection)


def diff(connection: ConnectionOptions, shape: Shape, chosen: GroupOptions, from_file: Path, exact: bool) -> int:
    """Run ``kgroups settings diff``; return the exit code."""
    shape.check(DRIFT)
    declared = _read_declared(from_file, exact=exact)
    selection = _groups_of(declared, chosen)

    async def query(admin: Client) -> Outcome[Any]:
        found = await describe_settings(wire_of(admin, WireOnly.SETTINGS), selection)
        rows = tuple(chain.from_iterable(drift(each, declared) for each in found.items))
        failures = unknown_keys(found.items, declared)
        notices = []
        if others := unmatched(declared, [each.group for each in found.items]):
            notices.append(f"{from_file} has no table for {count(len(others), 'group')}: {some(others)}")
        if not (rows or failures or found.failures):
            compared = count(len(found.items) - len(others), "group")
            notices.append(f"the settings are as in {from_file}: {compared}")
        return found.with_items(rows).with_failures(failures, notices)

    run = hinted(query, selection)
    outcome, cluster_id = or_error_envelope(
        shape, DRIFT, lambda: run_query(connection.settings, run, debug=connection.debug)
    )
    code = show(outcome, cluster_id, shape, DRIFT)
    return max(code, EXIT_FAILED) if outcome.items else code


def set_settings(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    accepted: tuple[str, ...],
    chosen: GroupOptions,
    from_file: Path | None,
    exact: bool,
) -> int:
    """Run ``kgroups settings set``; return the exit code."""
    pairs = [text for text in chosen.positional if "=" in text]
    chosen = chosen._replace(positional=tuple(text for text in chosen.positional if "=" not in text))
    if bool(pairs) == (from_file is not None):
        raise UsageError("use KEY=VALUE or --from-file, and not both" if pairs else "no settings: use KEY=VALUE")
    if exact and from_file is None:
        raise UsageError("--exact requires --from-file")
    if from_file is None:
        operation = ChangeSettings(chosen.selection(), SetAll(_values(pairs)), undo_file)
        return apply_plan(connection, shape, confirmation, operation)
    found = _read_any(from_file)
    if isinstance(found, Declared):
        declared = found._replace(exact=exact)
        return apply_plan(
            connection, shape, confirmation, ChangeSettings(_groups_of(declared, chosen), declared, undo_file)
        )
    if exact:
        raise UsageError("--exact cannot be combined with an undo file")
    connection.check_single("--from-file", "an undo file is for one cluster; give one --profile")
    return restore_settings(connection, shape, confirmation, undo_file, accepted, chosen, found)


def restore_settings(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    accepted: tuple[str, ...],
    chosen: GroupOptions,
    found: Restored,
) -> int:
    """Restore settings from an undo file; return the exit code."""
    restored = accepting(found, frozenset(map(Mismatch, accepted)))
    groups = chosen_in_file(restored.groups, restored.origin.name, chosen.selection() if chosen.any_given else None)
    operation = ChangeSettings(
        Selection(tuple(groups)), restored, undo_file, notices_on=restored.on, undoes=restored.origin.undone
    )
    return apply_plan(connection, shape, confirmation, operation)


def _values(pairs: list[str]) -> dict[str, str]:
    """Return key -> value.

    :raises UsageError: if a key is empty, occurs twice, or cannot be sent.
    """
    values: dict[str, str] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if not key:
            raise UsageError(f"{pair!r}: the name of a setting is missing before =")
        if values.setdefault(key, value) != value:
            raise UsageError(f"{key} is given twice, with different values")
        check_name(key, "KEY=VALUE")
        check_name(f"={value}", "KEY=VALUE")
    return values


def unset(
    connection: ConnectionOptions,
    shape: Shape,
    confirmation: Confirmation,
    undo_file: Path | None,
    chosen: GroupOptions,
    keys: str,
) -> int:
    """Run ``kgroups settings unset``; return the exit code."""
    names = split_values((keys,))
    if not names:
        raise UsageError("no settings: use KEY[,KEY]... before the groups")
    operation = ChangeSettings(chosen.selection(), UnsetAll(names), undo_file)
    return apply_plan(connection, shape, confirmation, operation)


def _read_declared(path: Path, *, exact: bool) -> Declared:
    """Read a TOML file.

    :raises UsageError: if it is an undo file, or cannot be read.
    """
    found = _read_any(path)

    if not isinstance(found, Declared):
        raise UsageError(f"--from-file: {path} is an undo file; use kgroups undo")
    return found._replace(exact=exact)


def _read_any(path: Path) -> Declared | Restored:
    """Read a TOML file or an undo file.

    :raises UsageError: if it is neither, or cannot be read.
    """
    text = read_text(path)
    if begins_undo(text, SETTINGS_SCHEMA):
        return parse_undo(text, str(path))
    if begins_undo(text):
        raise UsageError(f"--from-file: {path} has committed offsets; use kgroups undo")
    return parse_declared(text, str(path))


def _groups_of(declared: Declared, chosen: GroupOptions) -> Selection:
    """Return the selected groups, by default those of the file; a glob of the file may match none."""
    if chosen.any_given:
        return chosen.selection()
    return Selection(declared.names, Glob(*declared.globs) if declared.globs else None)
