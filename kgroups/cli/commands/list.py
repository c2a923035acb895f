"""List the groups of a cluster, of every type.

On a terminal, the list shows TYPE and STATE; in a pipe it has one bare name per line, also with a filter.

With --by cluster, #GROUPS is - if the list may be partial; LISTED counts the groups in it. Counts by state or type
are - if brokers are too old to report those of some groups.

--migration describes the groups and reads the settings of all brokers. UPGRADE is from the classic to the consumer
protocol while the group has members, ROLLBACK the way back. ready-if needs a change of settings; kgroups explain GROUP
--migration shows which.
"""

from __future__ import annotations

import click

from ..frame.command import Command, Shown
from ..frame.group_options import listed_group_options
from ..frame.options import completer, output_options, position_options

_SHOW = "\x00"
"""The value of --state and --type given alone: show the column, filter nothing."""

command = Command(
    "list",
    __doc__,
    body="kgroups.cli.list:list_groups",
    options=(
        listed_group_options,
        click.option(
            "--state",
            "states",
            multiple=True,
            is_flag=False,
            flag_value=_SHOW,
            metavar="[STATES]",
            help="Only groups in these states (comma-separated, any case). Without values: add the column STATE.",
            shell_complete=completer("states"),
        ),
        click.option(
            "--type",
            "types",
            multiple=True,
            is_flag=False,
            flag_value=_SHOW,
            metavar="[TYPES]",
            help="Only groups of these types: classic, consumer, share, streams, spark. Without values: add the column "
            "TYPE.",
            shell_complete=completer("types"),
        ),
        click.option(
            "--protocol-type",
            "protocol_types",
            multiple=True,
            metavar="TYPES",
            help="Only groups with these protocol types, such as consumer or connect.  [default: all]",
        ),
        click.option(
            "--by",
            type=click.Choice(["group", "cluster"]),
            default="group",
            show_default=True,
            help="Show one row for each group, or for the whole cluster: the number of groups by state and type.",
        ),
        click.option(
            "--migration",
            is_flag=True,
            help="Show whether brokers would convert each group to the consumer protocol (KIP-848), and back.",
        ),
        output_options,
        position_options,
    ),
    examples=(
        (("List the groups of a cluster"), ("kgroups list -b localhost:9092")),
        ("Show which groups can move to the consumer protocol", "kgroups list --migration"),
        ("List share groups with all columns, as JSON", "kgroups list --type share --wide -o json"),
    ),
    views=(
        Shown("kgroups.render.list_view:LIST"),
        Shown("kgroups.render.list_by_cluster:LIST_BY_CLUSTER", "--by cluster", in_help=False),
        Shown("kgroups.render.migration_view:MIGRATION", "--migration"),
    ),
    sections={"View": "--migration"},
    page="list-and-describe.md",
)
