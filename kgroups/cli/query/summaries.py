"""``kgroups describe --summary`` and ``--all-views``: members, offsets, and state from one sweep of the cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.views.member_rows import member_rows
from kgroups.model.views.offsets import offset_rows
from kgroups.model.views.refused_rows import refused_rows
from kgroups.model.views.summary_row import SummaryRow, all_views_row, summary_row
from kgroups.render.member_views import MEMBERS
from kgroups.render.offset_view import OFFSETS
from kgroups.render.output import write_outcome
from kgroups.render.summary_view import ALL_VIEWS, SUMMARY

from ..frame.output import Shape, or_error_envelope, print_failures, with_omitted
from ..frame.run_query import Connection, hinted, query_and_show, run_query
from .stream_rows import collect_rows

Notices = Callable[["Outcome[Any]", Any], list[str]]


def show_summary(connection: Connection, shape: Shape, selection: Selection, level: Isolation, notices: Notices) -> int:
    """Show one line for each group; return the exit code."""

    async def query(admin: Client) -> Outcome[Any]:
        streamed = await collect_rows(
            admin.stream_offsets(selection, isolation=level, whole_topics=True),
            SummaryRow,
            lambda item: (summary_row(item),),
        )
        return streamed if streamed.items else streamed.with_failures((), notices(streamed, ()))

    return query_and_show(connection, shape.with_status, SUMMARY, query, selection=selection)


def show_all_views(
    connection: Connection, shape: Shape, selection: Selection, level: Isolation, notices: Notices
) -> int:
    """Show state, members, and offsets of groups; return the exit code.

    :raises UsageError: if the format has no place for three tables.
    """
    fmt = shape.format
    if fmt not in ("table", "plain", "json", "jsonl") or shape.columns is not None or shape.sort is not None:
        raise UsageError("--all-views supports table, plain, json, and jsonl, without --columns and --sort")

    if connection.fleet and fmt not in ("json", "jsonl"):
        raise UsageError("--all-views of several profiles supports json and jsonl")

    async def query(admin: Client) -> Outcome[Any]:
        outcome = await admin.describe_offsets(selection, isolation=level, whole_topics=True)
        return outcome if outcome.items else outcome.with_failures((), notices(outcome, ()))

    if fmt in ("json", "jsonl"):

        async def query_rows(admin: Client) -> Outcome[Any]:
            outcome = await query(admin)
            return outcome.with_items(map(all_views_row, outcome.items))

        return query_and_show(connection, shape, ALL_VIEWS, query_rows, selection=selection)

    outcome, _ = or_error_envelope(
        shape, ALL_VIEWS, lambda: run_query(connection.settings, hinted(query, selection), debug=connection.debug)
    )
    groups = [item.group for item in outcome.items]
    described = {group.group for group in groups}
    refused = refused_rows(SummaryRow, (each for each in outcome.failures if each.name not in described))
    blocks: list[tuple[Any, list[Any]]] = [
        (SUMMARY, [*map(summary_row, outcome.items), *refused]),
        (MEMBERS, [row for group in groups for row in member_rows(group)]),
        (OFFSETS, [row for item in outcome.items for row in offset_rows(item)]),
    ]
    omitted: dict[str, None] = {}
    for number, (view, rows) in enumerate(blocks):
        if number:
            sys.stdout.write("\n")
        dropped = write_outcome(
            outcome.with_items(rows), view, fmt=fmt, stream=sys.stdout, tier=shape.tier, headers=not shape.no_headers
        )
        sys.stdout.flush()
        omitted.update(dict.fromkeys(dropped))
    print_failures(with_omitted(outcome, omitted))
    return outcome.exit_code
