"""``kgroups describe --deep``: columns from the groups' records in ``__consumer_offsets``, which no API reports."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.records import read_group_logs, share_facts
from kgroups.admin.share_state.gather import Gathered
from kgroups.model.explain.facts import GroupFacts
from kgroups.model.group_log import ReadBudget, keys_of
from kgroups.model.groups import GroupType
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.share.partition import ACQUIRED_UNKNOWN
from kgroups.model.views import deep_rows
from kgroups.model.views.member_rows import MemberRow, StateRow, member_rows, state_row
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.offsets import offset_rows
from kgroups.model.views.refused_rows import refused_rows
from kgroups.render.deep_views import DEEP_VIEWS

from ..frame.output import Shape
from ..frame.run_query import Connection, query_and_show


def show_deep(
    connection: Connection,
    shape: Shape,
    view: str,
    selection: Selection,
    level: Isolation,
    bounds: tuple[int, float],
    notices: Callable[[Outcome[Any], Any], list[str]],
) -> int:
    """Show a view with the deep columns; return the exit code.

    :param bounds: MiB to read of each partition at most, and seconds.
    """

    async def query(admin: Client) -> Outcome[Any]:
        outcome: Outcome[Any]
        if view == "offsets":
            outcome = await admin.describe_offsets(selection, isolation=level)
            remarks = notices(outcome, [item.group for item in outcome.items])
        else:
            outcome = await admin.describe(selection)
            remarks = [] if view == "state" and outcome.items else notices(outcome, outcome.items)
        return (await _with_deep_columns(admin, view, outcome, *bounds)).with_failures((), remarks)

    return query_and_show(connection, shape, DEEP_VIEWS[view], query, selection=selection)


async def _with_deep_columns(admin: Client, view: str, outcome: Outcome[Any], mib: int, seconds: float) -> Outcome[Any]:
    """Return the rows of a view with the deep columns.

    A group that the principal is not authorized to describe has one row; its log is not read.

    :param outcome: groups; for the view ``offsets``, groups with their commits.
    :param mib: MiB to read of each partition, at most.
    """
    limits = ReadBudget(mib << 20, seconds)
    rows: list[Any]
    if view == "offsets":
        keys = {item.group.group: keys_of(item.group, view, _committed(item)) for item in outcome.items}
        group_logs = await read_group_logs(admin, keys, limits, retention=True)
        shared = await share_facts(admin, outcome.items, limits)
        rows = []
        for item in outcome.items:
            facts = shared.facts.get(item.group.group)
            if facts:
                rows += deep_rows.deep_share_rows(offset_rows(item), facts)
                continue
            for row in offset_rows(item):
                rows.append(deep_rows.deep_offset_row(row, item.group, group_logs, item.logs.topic_ids))
        rows += [(*row, *deep_rows.NO_LOG) for row in refused_rows(OffsetRow, outcome.failures)]
        return _with_share_notices(outcome.with_items(rows).with_failures((), group_logs.notices), shared)
    keys = {group.group: keys_of(group, view) for group in outcome.items}
    group_logs = await read_group_logs(admin, keys, limits)
    if view == "state":
        states = chain(map(state_row, outcome.items), refused_rows(StateRow, outcome.failures))
        rows = [deep_rows.deep_state_row(row, group_logs) for row in states]
    else:
        members = chain(chain.from_iterable(map(member_rows, outcome.items)), refused_rows(MemberRow, outcome.failures))
        rows = [deep_rows.deep_member_row(row, group_logs) for row in members]
    return outcome.with_items(rows).with_failures((), group_logs.notices)


def _with_share_notices(outcome: Outcome[Any], shared: Gathered) -> Outcome[Any]:
    """Add how far the logs of share groups were read, and the ACLs that are missing for them."""
    notices = [f"--deep: {text}" for text in shared.reached]
    if shared.facts:
        notices.append(ACQUIRED_UNKNOWN)
    outcome = outcome.with_failures((), notices)
    return outcome._replace(hidden_by=(*outcome.hidden_by, *shared.missing_acls))


async def with_logs(admin: Client, outcome: Outcome[GroupFacts], mib: int, seconds: float) -> Outcome[GroupFacts]:
    """Add to the facts of groups what their logs contain: leaders, generations, and timeouts."""
    keys = {facts.group.group: keys_of(facts.group, "state") for facts in outcome.items}
    group_logs = await read_group_logs(admin, keys, ReadBudget(mib << 20, seconds))
    facts = [each._replace(log=group_logs.logs.get(each.group.group)) for each in outcome.items]
    return outcome.with_items(facts).with_failures((), group_logs.notices)


async def with_share_facts(
    admin: Client, outcome: Outcome[GroupFacts], mib: int, seconds: float
) -> Outcome[GroupFacts]:
    """Add to the facts of share groups the states of their partitions, as far as the limits on reading allow."""
    names = tuple(facts.group.group for facts in outcome.items if facts.group.type == GroupType.SHARE)
    if not names:
        return outcome
    offsets = await admin.describe_offsets(Selection(names), isolation=Isolation.READ_UNCOMMITTED)
    shared = await share_facts(admin, offsets.items, ReadBudget(mib << 20, seconds))
    facts = [each._replace(share=shared.facts.get(each.group.group)) for each in outcome.items]
    hidden_by = (*outcome.hidden_by, *shared.missing_acls)
    return outcome.with_items(facts).with_failures(offsets.failures)._replace(hidden_by=hidden_by)


def _committed(item: Any) -> list[tuple[str, int]]:
    if item.group.type == GroupType.SHARE:
        return []  # its start offsets are not commits
    return [(topic, commit.partition) for topic, commits in item.commits.topics.items() for commit in commits]
