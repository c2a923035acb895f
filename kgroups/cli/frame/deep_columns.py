"""``kgroups describe --deep``: columns from the groups' records in ``__consumer_offsets``, which no API reports."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.explain.facts import GroupFacts
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View


def deep_view(view: str) -> View:
    from kgroups.render.deep_views import DEEP_MEMBERS, DEEP_OFFSETS, DEEP_STATE

    return {"state": DEEP_STATE, "members": DEEP_MEMBERS, "offsets": DEEP_OFFSETS}[view]


async def with_deep_columns(
    admin: GroupAdmin, view: str, outcome: Outcome[Any], mib: int, seconds: float
) -> Outcome[Any]:
    """Return the rows of a view with the deep columns.

    A group that the principal is not authorized to describe has one row; its log is not read.

    :param outcome: groups; for the view ``offsets``, groups with their commits.
    :param mib: MiB to read of each partition, at most.
    """
    from kgroups.model.group_log import ReadBudget, keys_of
    from kgroups.model.views import deep_rows
    from kgroups.model.views.member_rows import MemberRow, StateRow, member_rows, state_row
    from kgroups.model.views.offset_row import OffsetRow
    from kgroups.model.views.offsets import offset_rows
    from kgroups.model.views.refused_rows import refused_rows

    limits = ReadBudget(mib << 20, seconds)
    rows: list[Any]
    if view == "offsets":
        keys = {item.group.group_id: keys_of(item.group, view, _committed(item)) for item in outcome.items}
        group_logs = await admin.read_group_logs(keys, limits, retention=True)
        rows = [
            deep_rows.deep_offset_row(row, item.group, group_logs, item.logs.topic_ids)
            for item in outcome.items
            for row in offset_rows(item)
        ]
        rows += [(*row, *deep_rows.CommitLog()) for row in refused_rows(OffsetRow, outcome.failures)]
        return outcome.with_items(rows).with_failures((), group_logs.notices)
    keys = {group.group_id: keys_of(group, view) for group in outcome.items}
    group_logs = await admin.read_group_logs(keys, limits)
    if view == "state":
        states = chain(map(state_row, outcome.items), refused_rows(StateRow, outcome.failures))
        rows = [deep_rows.deep_state_row(row, group_logs) for row in states]
    else:
        members = chain(chain.from_iterable(map(member_rows, outcome.items)), refused_rows(MemberRow, outcome.failures))
        rows = [deep_rows.deep_member_row(row, group_logs) for row in members]
    return outcome.with_items(rows).with_failures((), group_logs.notices)


async def with_logs(admin: GroupAdmin, outcome: Outcome[GroupFacts], mib: int, seconds: float) -> Outcome[GroupFacts]:
    """Add to the facts of groups what their logs contain: leaders, generations, and timeouts."""
    from kgroups.model.group_log import ReadBudget, keys_of

    keys = {facts.group.group_id: keys_of(facts.group, "state") for facts in outcome.items}
    group_logs = await admin.read_group_logs(keys, ReadBudget(mib << 20, seconds))
    facts = [each._replace(log=group_logs.logs.get(each.group.group_id)) for each in outcome.items]
    return outcome.with_items(facts).with_failures((), group_logs.notices)


def _committed(item: Any) -> list[tuple[str, int]]:
    return [(topic, commit.partition) for topic, commits in item.commits.topics.items() for commit in commits]
