"""``kgroups explain``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from kgroups.admin.client import Client
from kgroups.admin.observe import group_facts
from kgroups.admin.query.select_groups import Selection
from kgroups.config.settings import Transport
from kgroups.errors import Reason, UsageError
from kgroups.model.explain import explain as explain_group
from kgroups.model.explain.change import Change, InvalidChange, parse_change
from kgroups.model.explain.facts import GroupFacts
from kgroups.model.explain.summary import summarize
from kgroups.model.explain.what_if import NotEnoughData, simulate
from kgroups.model.outcome import NO_MATCH, Failure, Outcome, Scope
from kgroups.model.verdicts.verdict import Adds
from kgroups.render.explain import Explained, write_explained, write_json
from kgroups.render.views import Tier

from .explain_migration import explain_migrations
from .explain_partitions import PartitionOptions, explain_partitions, of_cluster
from .frame.options import ConnectionOptions
from .frame.output import or_write_error, print_failures, with_omitted
from .frame.run_query import Query, query_items
from .frame.selected_groups import GroupOptions
from .query.deep_columns import with_logs, with_share_facts


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


_SHARE_MIB, _SHARE_SECONDS = 8, 2.0
"""Limits on reading the state of share groups without ``--deep``."""


def explain(
    connection: ConnectionOptions,
    style: Style,
    chosen: GroupOptions,
    what_if: tuple[str, ...],
    partitions: PartitionOptions,
    deep: tuple[int, float] | None,
    migration: bool,
) -> int:
    """Run ``kgroups explain``; return the exit code."""
    changes = _changes(what_if)
    selection = chosen.selection(all_by_default=partitions.lagging)
    _check(connection, selection, changes, partitions, deep is not None, migration=migration)
    if migration:
        return explain_migrations(connection, style.output, style.format, selection, deep)
    if partitions.given:
        return explain_partitions(connection, style.output, style.format, selection, partitions)

    async def query(admin: Client) -> Outcome[Any]:
        outcome, _ = await group_facts(admin, selection)
        if not outcome.items and not outcome.failures:
            return outcome.with_failures((), [NO_MATCH])

        outcome = await with_share_facts(admin, outcome, *(deep or (_SHARE_MIB, _SHARE_SECONDS)))
        if deep is None:
            return outcome

        return await with_logs(admin, outcome, *deep)

    explained, cluster_id, clusters = _explained(connection, style, query, selection, deep=deep is not None)
    if changes:
        explained = _with_what_if(explained, changes)
    if style.format == "json":
        write_json(explained, sys.stdout, cluster_id, clusters)
    else:
        tier = Tier.VERBOSE if style.verbose else Tier.BASE
        omitted = write_explained(explained.items, style.format, sys.stdout, tier, headers=not style.no_headers)
        explained = with_omitted(explained, omitted, "--output=plain")
    sys.stdout.flush()
    print_failures(explained)
    return explained.exit_code


def _check(
    connection: ConnectionOptions,
    selection: Selection,
    changes: list[Change],
    partitions: PartitionOptions,
    deep: bool,
    *,
    migration: bool,
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
    if migration and (changes or partitions.given):
        raise UsageError("--migration cannot be combined with --what-if, --partition, or --lagging")
    if partitions.show_record and not partitions.given:
        raise UsageError("--show-record requires --partition or --lagging")


def _explained(
    connection: ConnectionOptions, style: Style, query: Query, selection: Selection, *, deep: bool
) -> tuple[Outcome[Explained], str | None, Mapping[str, str | None] | None]:
    """Return the groups with their findings, and the ID of the cluster, or the IDs of several by their names."""
    return query_items(
        connection,
        partial(or_write_error, style.output, lambda empty: write_json(empty, sys.stdout, None)),
        query,
        selection,
        partial(explain_one, connection, deep=deep),
    )


def explain_one(
    connection: ConnectionOptions, cluster: str | None, facts: GroupFacts, *, deep: bool = False
) -> Explained:
    """Return a group with the findings about it, and with the next command for its cluster, other than this one."""
    findings = explain_group(facts)
    summary = summarize(facts, findings)
    if deep and summary.adds is Adds.DEEP:
        summary = summary._replace(next=None)
    summary = summary._replace(next=of_cluster(connection, cluster, summary.next))
    return Explained(facts, findings, cluster=cluster, summary=summary)


def _changes(texts: tuple[str, ...]) -> list[Change]:
    """Parse the values of ``--what-if``.

    :raises UsageError: if one is invalid.
    """
    if not texts:
        return []

    try:
        return [parse_change(text) for text in texts]
    except InvalidChange as error:
        raise UsageError(f"--what-if: {error}") from None


def _with_what_if(explained: Outcome[Explained], changes: list[Change]) -> Outcome[Explained]:
    """Add the results of the changes; a failure for a group whose data are insufficient.

    :raises UsageError: if a change cannot be applied to the group.
    """
    items, failures = [], []
    for item in explained.items:
        facts: GroupFacts = item.facts
        try:
            items.append(item._replace(what_if=simulate(facts, changes)))
        except InvalidChange as error:
            raise UsageError(f"--what-if: {error}") from None
        except NotEnoughData as error:
            items.append(item)
            failures.append(
                Failure(
                    Scope.GROUP,
                    facts.group.group,
                    f"--what-if cannot be computed: {error}",
                    reason=Reason.NOT_APPLICABLE,
                )
            )
    return explained.with_items(items).with_failures(failures)
