"""``kgroups explain``."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kgroups.config.settings import Transport
from kgroups.errors import UsageError
from kgroups.model.outcome import NO_MATCH

from .explain_partitions import PartitionOptions, explain_partitions, partition_options
from .frame.group_options import GroupOptions, group_and_used_topic_options
from .frame.lazy_command import Command
from .frame.options import ConnectionOptions, F, deep_options, fleet_options, grouped_options
from .frame.run_query import Query, or_write_error, print_failures, query_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.explain.change import Change
    from kgroups.model.explain.facts import GroupFacts
    from kgroups.model.outcome import Outcome
    from kgroups.render.explain import Explained


class Style(NamedTuple):
    """The output options."""

    output: str
    verbose: bool
    no_headers: bool

    @property
    def format(self) -> str:
        if self.output != "auto":
            return self.output
        return "table" if sys.stdout.isatty() else "plain"


_STYLE = (
    click.option(
        "-o",
        "--output",
        type=click.Choice(["auto", "table", "plain", "json"]),
        default="auto",
        show_default=True,
        help="Text with tables, or JSON.  auto: table on a terminal, plain in a pipe.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Show more columns: clients, assignments, subscriptions."),
    click.option("--no-headers", is_flag=True, help="Omit the header row of tables."),
)


_SHARE_MIB, _SHARE_SECONDS = 8, 2.0
"""Limits on reading the state of share groups without ``--deep``."""


def style_options(command: F) -> F:
    """Add the output options; the command gets ``style``, a :class:`Style`."""
    return grouped_options(command, _STYLE, "style", Style)


@click.command("explain", cls=Command)
@group_and_used_topic_options
@click.option(
    "--what-if",
    "what_if",
    multiple=True,
    metavar="CHANGE",
    help="Compute which partitions would move: members=+1, members=-1, members=5, member=-ID, assignor=NAME, "
    "partitions=TOPIC:+3. Repeatable: each change is applied after the one before it.",
)
@partition_options
@deep_options
@style_options
@fleet_options
def explain(
    connection: ConnectionOptions,
    style: Style,
    chosen: GroupOptions,
    what_if: tuple[str, ...],
    partitions: PartitionOptions,
    deep: tuple[int, float] | None,
) -> int:
    """Explain the state and the problems of groups.

    Shows, in sentences and a table of members: the coordinator and the protocol, members without partitions, partitions
    that are unassigned or assigned twice, differences between members, and the size of a rebalance against the broker's
    limits.

    --what-if runs Kafka's assignors locally on the group as it is; no member is affected. A new member has the most
    common subscription and the highest member ID; if members=N removes members, those with the highest IDs
    leave. member=-ID takes an instance ID or the start of a member ID. Rack-aware assignment is not simulated.

    --partition and --lagging show one verdict for each partition instead: why it is not consumed, such as an open
    transaction, no member, or a record that the consumer does not get past, with the evidence and the next command.
    """
    from kgroups.render.explain import write_explained, write_json
    from kgroups.render.views import Tier

    changes = _changes(what_if)
    selection = chosen.selection()
    _check(connection, selection, changes, partitions, deep is not None)
    if partitions.given:
        return explain_partitions(connection, style.output, style.format, selection, partitions)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        from kgroups.admin.group_clients import gather_facts
        from kgroups.admin.port import WireOnly, wire_of

        cluster = wire_of(admin, WireOnly.EXPLAIN)
        outcome = await gather_facts(cluster, selection)
        if not outcome.items and not outcome.failures:
            return outcome.with_failures((), [NO_MATCH])
        from .query.deep_columns import with_logs, with_share_facts

        outcome = await with_share_facts(admin, outcome, *(deep or (_SHARE_MIB, _SHARE_SECONDS)))
        if deep is None:
            return outcome

        return await with_logs(admin, outcome, *deep)

    explained, cluster_id, clusters = _explained(connection, style, query, selection)
    if changes:
        explained = _with_what_if(explained, changes)
    if style.format == "json":
        write_json(explained, sys.stdout, cluster_id, clusters)
    else:
        tier = Tier.VERBOSE if style.verbose else Tier.BASE
        write_explained(explained.items, style.format, sys.stdout, tier, headers=not style.no_headers)
    sys.stdout.flush()
    print_failures(explained)
    return explained.exit_code


def _check(
    connection: ConnectionOptions, selection: Selection, changes: list[Change], partitions: PartitionOptions, deep: bool
) -> None:
    """Check the combination of options.

    :raises UsageError: if it is not allowed.
    """
    if changes and (selection.needs_list or len(selection.names) != 1):
        raise UsageError("--what-if requires exactly one group")
    if changes and connection.fleet:
        raise UsageError("--what-if requires exactly one cluster")
    if connection.settings.transport is Transport.LIBRDKAFKA:
        raise UsageError("explain is not supported with --transport librdkafka")
    if partitions.given and (changes or deep):
        raise UsageError("--partition and --lagging cannot be combined with --what-if or --deep")
    if partitions.show_record and not partitions.given:
        raise UsageError("--show-record requires --partition or --lagging")


def _explained(
    connection: ConnectionOptions, style: Style, query: Query, selection: Selection
) -> tuple[Outcome[Explained], str | None, Mapping[str, str | None] | None]:
    """Return the groups with their findings, and the ID of the cluster, or the IDs of several by their names."""
    from kgroups.model.explain import explain as explain_group
    from kgroups.render.explain import Explained, write_json

    return query_items(
        connection,
        partial(or_write_error, style.output, lambda empty: write_json(empty, sys.stdout, None)),
        query,
        selection,
        lambda cluster, facts: Explained(facts, explain_group(facts), cluster=cluster),
    )


def _changes(texts: tuple[str, ...]) -> list[Change]:
    """Parse the values of ``--what-if``.

    :raises UsageError: if one is invalid.
    """
    if not texts:
        return []
    from kgroups.model.explain.change import InvalidChange, parse_change

    try:
        return [parse_change(text) for text in texts]
    except InvalidChange as error:
        raise UsageError(f"--what-if: {error}") from None


def _with_what_if(explained: Outcome[Explained], changes: list[Change]) -> Outcome[Explained]:
    """Add the results of the changes; a failure for a group whose data are insufficient.

    :raises UsageError: if a change cannot be applied to the group.
    """
    from kgroups.model.explain.change import InvalidChange
    from kgroups.model.explain.what_if import NotEnoughData, simulate
    from kgroups.model.outcome import Failure, Scope

    items, failures = [], []
    for item in explained.items:
        facts: GroupFacts = item.facts
        try:
            items.append(item._replace(what_if=simulate(facts, changes)))
        except InvalidChange as error:
            raise UsageError(f"--what-if: {error}") from None
        except NotEnoughData as error:
            items.append(item)
            failures.append(Failure(Scope.GROUP, facts.group.group_id, f"--what-if cannot be computed: {error}"))
    return explained.with_items(items).with_failures(failures)
