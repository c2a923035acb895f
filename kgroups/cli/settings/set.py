"""``kgroups settings set`` and ``unset``."""

from __future__ import annotations

from pathlib import Path

from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.operations.origin import Mismatch
from kgroups.model.settings.change import SetAll, UnsetAll
from kgroups.model.settings.declared import Declared
from kgroups.model.settings.undo import accepting

from ..change.apply_plan import apply_plan
from ..change.change_settings import ChangeSettings
from ..change.confirmation import Confirmation
from ..change.plan_source import chosen_in_file
from ..frame.options import ConnectionOptions, split_values
from ..frame.output import Shape
from ..frame.selected_groups import GroupOptions, check_name
from .file import groups_of, read_any


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
    found = read_any(from_file)
    if isinstance(found, Declared):
        declared = found._replace(exact=exact)
        return apply_plan(
            connection, shape, confirmation, ChangeSettings(groups_of(declared, chosen), declared, undo_file)
        )
    if exact:
        raise UsageError("--exact cannot be combined with an undo file")
    connection.check_single("--from-file", "an undo file is for one cluster; give one --profile")

    restored = accepting(found, frozenset(map(Mismatch, accepted)))
    groups = chosen_in_file(restored.groups, from_file, chosen.selection() if chosen.any_given else None)
    operation = ChangeSettings(Selection(tuple(groups)), restored, undo_file, notices_on=restored.on)
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
