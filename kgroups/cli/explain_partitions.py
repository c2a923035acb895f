"""``kgroups explain --partition`` and ``--lagging``: one verdict for each partition."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kgroups.errors import UsageError
from kgroups.model.outcome import NO_MATCH

from .frame.options import ConnectionOptions, Duration, F, grouped_options
from .frame.run_query import hinted, or_write_error, print_failures, run_query

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.outcome import Outcome


class PartitionOptions(NamedTuple):
    """The options that select partitions; ``stuck_after`` is in seconds."""

    partitions: tuple[str, ...]
    lagging: bool
    show_record: bool
    stuck_after: float

    @property
    def given(self) -> bool:
        return bool(self.partitions) or self.lagging


_OPTIONS = (
    click.option(
        "--partition",
        "partitions",
        multiple=True,
        metavar="TOPIC[:PARTITIONS]",
        help="Show a verdict for each of these partitions, such as orders:3, orders:0,2-5, or orders for all of them. "
        "Repeatable.",
    ),
    click.option("--lagging", is_flag=True, help="Show a verdict for each partition that lags."),
    click.option(
        "--show-record", is_flag=True, help="Show the start of the key and of the value of the first unread record."
    ),
    click.option(
        "--stuck-after",
        type=Duration(),
        default="30s",
        show_default=True,
        metavar="DURATION",
        help="A partition is stuck if a record is unread without progress for longer than this.",
    ),
)


def partition_options(command: F) -> F:
    """Add options that select partitions; the command gets ``partitions``, :class:`PartitionOptions`."""
    return grouped_options(command, _OPTIONS, "partitions", PartitionOptions)


def explain_partitions(
    connection: ConnectionOptions, output: str, fmt: str, selection: Selection, options: PartitionOptions
) -> int:
    """Show the verdicts; return the exit code."""
    from kgroups.model.topic_scope import parse_topic_scope
    from kgroups.model.verdicts.judge import judge
    from kgroups.render.verdicts import Judged, write_json, write_verdicts

    if options.partitions and options.lagging:
        raise UsageError("--partition and --lagging are mutually exclusive")
    if connection.fleet:
        raise UsageError("--partition and --lagging require exactly one cluster")
    wanted = parse_topic_scope(options.partitions, "--partition") if options.partitions else None

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        from kgroups.admin.port.capabilities import FACTS

        outcome = await FACTS.of(admin).partition_facts(selection, wanted)
        if not outcome.items and not outcome.failures and wanted is not None:
            return outcome.with_failures((), [NO_MATCH])
        return outcome

    facts, cluster_id = or_write_error(
        output,
        lambda empty: write_json(empty, sys.stdout, None),
        lambda: run_query(connection.settings, hinted(query, selection), debug=connection.debug),
    )
    stuck_after = round(options.stuck_after * 1000)
    judged = facts.with_items(
        Judged(judge(each, stuck_after), each.record if options.show_record else None) for each in facts.items
    )
    if not judged.items and not judged.failures and options.lagging:
        judged = judged.with_failures((), ["no partition of the selected groups lags"])
    if fmt == "json":
        write_json(judged, sys.stdout, cluster_id)
    else:
        write_verdicts(judged.items, sys.stdout, colored=fmt == "table")
    sys.stdout.flush()
    print_failures(judged)
    unavailable = any(each.verdict.unavailable for each in judged.items)
    return judged.exit_code or int(unavailable)
