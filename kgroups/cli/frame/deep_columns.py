"""``kgroups describe --deep``: what only the groups' own log tells, beside what brokers answer."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.explain.facts import GroupFacts
    from kgroups.model.outcome import Outcome
    from kgroups.render.views import View


def deep_view(which: str) -> View:
    from kgroups.render.deep_views import DEEP_MEMBERS, DEEP_OFFSETS, DEEP_STATE

    return {"state": DEEP_STATE, "members": DEEP_MEMBERS, "offsets": DEEP_OFFSETS}[which]


async def with_deep_columns(
    admin: GroupAdmin, which: str, outcome: Outcome[Any], mib: int, seconds: float
) -> Outcome[Any]:
    """The rows of a view, deepened, of described groups; of groups beside their commits where the view is offsets.
    One of each group that may not be seen: of it the log is not read."""
    from kgroups.model.group_log import ReadBudget, keys_of
    from kgroups.model.views import deep_rows
    from kgroups.model.views.member_rows import MemberRow, StateRow, member_rows, state_row
    from kgroups.model.views.offset_row import OffsetRow
    from kgroups.model.views.offsets import offset_rows
    from kgroups.model.views.refused_rows import refused_rows

    limits = ReadBudget(mib << 20, seconds)
    rows: list[Any]
    if which == "offsets":
        wanted = {item.group.group_id: keys_of(item.group, which, _committed(item)) for item in outcome.items}
        found = await admin.read_group_logs(wanted, limits, retention=True)
        rows = [
            deep_rows.deep_offset_row(row, item.group, found, item.logs.topic_ids)
            for item in outcome.items
            for row in offset_rows(item)
        ]
        rows += [(*row, *deep_rows.CommitLog()) for row in refused_rows(OffsetRow, outcome.failures)]
        return outcome.with_items(rows).with_failures((), found.notices)
    wanted = {group.group_id: keys_of(group, which) for group in outcome.items}
    found = await admin.read_group_logs(wanted, limits)
    if which == "state":
        states = chain(map(state_row, outcome.items), refused_rows(StateRow, outcome.failures))
        rows = [deep_rows.deep_state_row(row, found) for row in states]
    else:
        members = chain(chain.from_iterable(map(member_rows, outcome.items)), refused_rows(MemberRow, outcome.failures))
        rows = [deep_rows.deep_member_row(row, found) for row in members]
    return outcome.with_items(rows).with_failures((), found.notices)


async def with_logs(admin: GroupAdmin, outcome: Outcome[GroupFacts], mib: int, seconds: float) -> Outcome[GroupFacts]:
    """What is known of groups, with what their logs tell of leaders, generations and time-outs."""
    from kgroups.model.group_log import ReadBudget, keys_of

    wanted = {facts.group.group_id: keys_of(facts.group, "state") for facts in outcome.items}
    found = await admin.read_group_logs(wanted, ReadBudget(mib << 20, seconds))
    facts = [each._replace(log=found.logs.get(each.group.group_id)) for each in outcome.items]
    return outcome.with_items(facts).with_failures((), found.notices)


def _committed(item: Any) -> list[tuple[str, int]]:
    return [(topic, commit.partition) for topic, commits in item.commits.topics.items() for commit in commits]
