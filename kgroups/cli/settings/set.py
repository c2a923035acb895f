"""``kgroups settings set``."""

from __future__ import annotations

from pathlib import Path

import click

from kgroups.errors import UsageError

from ..change.change_settings import change_settings, undo_option
from ..change.confirmation import Confirmation, confirmation_options
from ..frame.group_options import GroupOptions, check_name, mixed_group_options
from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, fleet_change_options, output_options
from ..frame.run_query import Shape
from .file import exact_option, file_option, groups_of, read_any


@click.command("set", cls=Command)
@mixed_group_options("[KEY=VALUE]... [GROUP]...")
@file_option(
    'File with the settings: TOML with a table for each group or glob, such as [groups."orders-*"], or an undo file, '
    "whose old settings are restored."
)
@exact_option
@confirmation_options
@undo_option
@click.option(
    "--accept-mismatch",
    "accepted",
    multiple=True,
    type=click.Choice(["cluster", "setting"]),
    help="With an undo file: restore even if the file belongs to another cluster (cluster), or if a setting has "
    "changed since (setting). Repeatable.",
)
@output_options
@fleet_change_options
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
    """Set settings of groups, from a file or an undo file too.

    Shows the plan, which brokers have checked for invalid values; --execute applies it. OLD-VALUE and NEW-VALUE are in
    effect. All values of a group are set, or none. The old settings are first saved to an undo file, from which
    --from-file restores them. With --from-file, the groups are by default those of the file. A name with = is a group
    only with --group.
    """
    from kgroups.model.settings.change import SetAll
    from kgroups.model.settings.declared import Declared

    pairs = [text for text in chosen.positional if "=" in text]
    chosen = chosen._replace(positional=tuple(text for text in chosen.positional if "=" not in text))
    if bool(pairs) == (from_file is not None):
        raise UsageError("use KEY=VALUE or --from-file, and not both" if pairs else "no settings: use KEY=VALUE")
    if exact and from_file is None:
        raise UsageError("--exact requires --from-file")
    if from_file is None:
        return change_settings(connection, shape, confirmation, undo_file, chosen.selection(), SetAll(_values(pairs)))
    found = read_any(from_file)
    if isinstance(found, Declared):
        declared = found._replace(exact=exact)
        return change_settings(connection, shape, confirmation, undo_file, groups_of(declared, chosen), declared)
    if exact:
        raise UsageError("--exact cannot be combined with an undo file")
    connection.check_single("--from-file", "an undo file is for one cluster; give one --profile")
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.operations.origin import Mismatch
    from kgroups.model.settings.undo import accepting

    from ..change.plan_source import chosen_in_file

    restored = accepting(found, frozenset(map(Mismatch, accepted)))
    groups = chosen_in_file(restored.groups, from_file, chosen.selection() if chosen.any_given else None)
    return change_settings(
        connection, shape, confirmation, undo_file, Selection(tuple(groups)), restored, notices_on=restored.on
    )


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
