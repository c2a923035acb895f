"""``kgroups list``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kgroups.errors import UsageError

from .frame.lazy_command import Command
from .frame.options import ConnectionOptions, completer, connection_options, output_options, split_values
from .frame.run_query import Shape, query_and_show

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.outcome import Outcome

_SHOW = "\x00"
"""The value of --state and --type given alone: show the column, filter nothing."""


@click.command("list", cls=Command)
@click.option(
    "--state",
    "states",
    multiple=True,
    is_flag=False,
    flag_value=_SHOW,
    metavar="[STATES]",
    help="Only groups in these states (comma-separated, any case). Without values: add the column STATE.",
    shell_complete=completer("states"),
)
@click.option(
    "--type",
    "types",
    multiple=True,
    is_flag=False,
    flag_value=_SHOW,
    metavar="[TYPES]",
    help="Only groups of these types: classic, consumer, share, streams. Without values: add the column TYPE.",
    shell_complete=completer("types"),
)
@click.option(
    "--protocol-type",
    "protocol_types",
    multiple=True,
    metavar="TYPES",
    help="Only groups with these protocol types, such as consumer or connect.  [default: all]",
)
@output_options
@connection_options
def list_groups(
    connection: ConnectionOptions,
    shape: Shape,
    states: tuple[str, ...],
    types: tuple[str, ...],
    protocol_types: tuple[str, ...],
) -> int:
    """List the groups of a cluster, of every type.

    On a terminal, the list shows TYPE and STATE; in a pipe it has one bare name per line, also with a filter.
    """
    from kgroups.admin.query.list_groups import ListFilter
    from kgroups.model.groups import GroupState, GroupType
    from kgroups.model.views.list_row import list_row
    from kgroups.render.views import LIST

    everything = shape.format == "table"
    with_types, with_states = everything or _SHOW in types, everything or _SHOW in states
    shape = shape._replace(extra=(*(("type",) if with_types else ()), *(("state",) if with_states else ())))
    group_filter = ListFilter(
        states=_canonical("--state", states, GroupState.ALL),
        types=_canonical("--type", types, GroupType.ALL),
        protocol_types=split_values(protocol_types),
        with_states=bool(states) or with_states or shape.shows("state"),
        with_types=bool(types) or with_types or shape.shows("type"),
    )

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        outcome = await admin.list_groups(group_filter)
        return outcome.with_items(map(list_row, outcome.items))

    return query_and_show(connection.settings, shape, LIST, query, debug=connection.debug)


def _canonical(flag: str, values: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values in the spelling of brokers, without duplicates.

    :raises UsageError: if a value is not in ``known``.
    """
    from kgroups.model.groups import canonical_word

    canonical = []
    for value in values:
        names = [] if value == _SHOW else value.split(",")
        for text in names:
            name = canonical_word(text.strip(), known)
            if name is None:
                raise UsageError(f"{flag}: unknown value {text.strip()!r} (valid: {', '.join(known)})")
            canonical.append(name)
    return tuple(dict.fromkeys(canonical))
