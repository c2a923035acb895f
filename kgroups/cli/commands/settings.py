"""Show and change the settings of groups.

These are the configurations that brokers apply to one group, such as consumer.session.timeout.ms,
share.record.lock.duration.ms, and streams.num.standby.replicas. Requires Kafka 4.0.
"""

from __future__ import annotations

from pathlib import Path

import click

from ..frame.command import Command, CommandGroup, Decorator, Shown
from ..frame.group_options import group_options, mixed_group_options, plain_group_options
from ..frame.options import connection_options, fleet_change_options, fleet_options, output_options
from ._change_options import confirmation_options, settings_undo_option

_exact_option = click.option(
    "--exact", is_flag=True, help="Settings that are not in the file must not be set for its groups."
)


def _file_option(help: str, *, required: bool = False) -> Decorator:
    """Return the option that names the file."""
    return click.option(
        "-f",
        "--from-file",
        type=click.Path(path_type=Path, allow_dash=True),
        metavar="FILE",
        required=required,
        help=help,
    )


_show = Command(
    "show",
    """Show the settings of groups, and where they come from.

    VALUE is in effect. ORIGIN is dynamic-group if it is set for the group, and otherwise what the group inherits:
    dynamic-broker, dynamic-default-broker, static-broker, or default. A group that is selected by name need not exist:
    Kafka stores settings for any name.
    """,
    body="kgroups.cli.settings:show_settings",
    options=(
        group_options,
        click.option(
            "--key",
            "keys",
            multiple=True,
            metavar="KEYS",
            help="Show only these settings: names or globs, comma-separated, such as 'consumer.*'. Repeatable.",
        ),
        click.option("--overridden", is_flag=True, help="Show only values that are set for a group."),
        output_options,
        fleet_options,
    ),
    examples=(
        ("Show the settings of a group, and where they come from", "kgroups settings show orders --key 'consumer.*'"),
        ("Show what is set for groups, as JSON", "kgroups settings show --all-groups --overridden -o json"),
    ),
    views=(Shown("kgroups.render.settings_views:SETTINGS"),),
)

_diff = Command(
    "diff",
    """Compare the settings of groups with a file.

    Compares what is set for each group, by default of all groups that the file names or matches. RESULT is differs; not
    set, if the group inherits its value; or with --exact not in file. Exits with 0 if nothing differs, and with 1 if
    anything differs or is unknown.
    """,
    body="kgroups.cli.settings:diff",
    options=(
        plain_group_options,
        _file_option('TOML file with a table for each group or glob, such as [groups."orders-*"].', required=True),
        _exact_option,
        output_options,
        connection_options,
    ),
    examples=(
        ("Compare all groups of a file with it", "kgroups settings diff -f settings.toml"),
        ("Also report values that are not in the file", "kgroups settings diff -f settings.toml --exact"),
    ),
    exits=(
        ("0", "The groups have the settings of the file."),
        ("1", "Something differs or is unknown."),
        ("2", "Invalid usage or configuration."),
        ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
        ("141", "The reader of the pipe has exited."),
    ),
    views=(Shown("kgroups.render.settings_views:DRIFT"),),
)

_set = Command(
    "set",
    """Set settings of groups, from a file or an undo file too.

    Shows the plan, which brokers have checked for invalid values; --execute applies it. OLD-VALUE and NEW-VALUE are in
    effect. All values of a group are set, or none. The old settings are first saved to an undo file, from which
    --from-file restores them. With --from-file, the groups are by default those of the file. A name with = is a group
    only with --group.
    """,
    body="kgroups.cli.settings:set_settings",
    options=(
        mixed_group_options("[KEY=VALUE]... [GROUP]..."),
        _file_option(
            'File with the settings: TOML with a table for each group or glob, such as [groups."orders-*"], or an '
            "undo file, whose old settings are restored."
        ),
        _exact_option,
        confirmation_options,
        settings_undo_option,
        click.option(
            "--accept-mismatch",
            "accepted",
            multiple=True,
            type=click.Choice(["cluster", "setting"]),
            help="With an undo file: restore even if the file belongs to another cluster (cluster), or if a setting "
            "has changed since (setting). Repeatable.",
        ),
        output_options,
        fleet_change_options,
    ),
    examples=(
        ("Show the plan of a change", "kgroups settings set consumer.session.timeout.ms=60000 'orders-*'"),
        ("Set what a file contains", "kgroups settings set -f settings.toml --execute"),
        ("Undo a change", "kgroups settings set -f undo.json --execute"),
    ),
    views=(Shown("kgroups.render.settings_views:SETTING_CHANGES"),),
)

_unset = Command(
    "unset",
    """Remove values that are set for groups.

    The groups then inherit their values from the broker; NEW-VALUE is the value that will be in effect. KEY is a name
    or a glob: 'share.*' removes all values of these settings, and '*' all values. Shows the plan; --execute applies it.
    The old settings are first saved to an undo file, from which kgroups undo restores them.
    """,
    body="kgroups.cli.settings:unset",
    options=(
        click.argument("keys", metavar="KEY[,KEY]..."),
        group_options,
        confirmation_options,
        settings_undo_option,
        output_options,
        fleet_change_options,
    ),
    examples=(
        ("Show the plan to remove a value", "kgroups settings unset consumer.session.timeout.ms orders"),
        ("Remove all values of a group", "kgroups settings unset '*' orders --execute"),
    ),
    views=(Shown("kgroups.render.settings_views:SETTING_CHANGES"),),
)

command = CommandGroup(
    "settings",
    __doc__,
    (
        _show,
        _diff,
        _set,
        _unset,
    ),
    page="settings.md",
)
