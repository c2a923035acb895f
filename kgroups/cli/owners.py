"""``kgroups owners``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import Reason
from kgroups.model.counts import count
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import NO_MATCH, Failure, Outcome, Scope
from kgroups.model.shell import shell
from kgroups.model.topic_scope import TopicScope, in_scope, parse_topic_scope
from kgroups.model.views.lag_summary import group_topics
from kgroups.model.views.owner_rows import OwnerRow, owner_rows, unread_rows
from kgroups.model.views.refused_rows import refused_rows
from kgroups.render.owner_view import OWNERS

from .frame.options import ConnectionOptions
from .frame.output import Shape
from .frame.run_query import query_and_show
from .frame.selected_groups import GroupOptions


def owners(connection: ConnectionOptions, shape: Shape, topics: tuple[str, ...], chosen: GroupOptions) -> int:
    """Run ``kgroups owners``; return the exit code."""
    scope = parse_topic_scope(topics, "TOPIC") if topics else None
    selection = chosen._replace(topics=tuple(scope or ())).selection(all_by_default=True)
    query = partial(_query, selection=selection, scope=scope, narrowed=chosen.any_given and not chosen.is_everything)
    return query_and_show(connection, shape, OWNERS, query, selection=selection)


async def _query(admin: Client, *, selection: Selection, scope: TopicScope | None, narrowed: bool) -> Outcome[Any]:
    outcome = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
    rows = [row for item in outcome.items for row in owner_rows(item, scope)]
    if members := selection.members:
        rows = [row for row in rows if members.matches(row.host or "", row.client_id or "")]
    rows += refused_rows(OwnerRow, outcome.failures)
    if scope and not narrowed:
        topics = {each.group.group: group_topics(each) for each in outcome.items}
        groups = {topic: [group for group, of_group in topics.items() if topic in of_group] for topic in scope}
        certain = not (outcome.failures or outcome.hidden_by)
        unread, failures = await _unread(admin, scope, rows, groups, certain=certain)
        rows += unread
        outcome = outcome.with_failures(failures)
    elif not rows and not outcome.failures:
        outcome = outcome.with_failures((), [NO_MATCH])
    return outcome.with_items(rows)


async def _unread(
    admin: Client, scope: TopicScope, rows: Iterable[OwnerRow], groups: Mapping[str, Collection[str]], *, certain: bool
) -> tuple[list[OwnerRow], list[Failure]]:
    """Return the rows of the selected partitions that no group reads, and failures of those that do not exist.

    :param groups: topic -> the groups that have it.
    """
    read = {(row.topic, row.partition) for row in rows}
    unread: list[OwnerRow] = []
    failures: list[Failure] = []
    for topic, found in (await admin.topics(sorted(scope))).items():
        if found.error:  # a failure of the selection
            if hint := await _partition_hint(admin, topic):
                failures.append(found.error.failure(Scope.TOPIC, topic, api="Metadata")._replace(hint=hint))
            continue
        there = {at for at in found.leaders if in_scope(scope, topic, at)}
        unread += unread_rows(topic, {at for at in there if (topic, at) not in read}, groups[topic], certain=certain)
        failures += (
            Failure(
                Scope.PARTITION,
                f"{topic}-{at}",
                f"the topic has {count(len(found.leaders), 'partition')}",
                reason=Reason.TOPIC_NOT_FOUND,
            )
            for at in sorted((scope[topic] or frozenset()) - there)
        )
    return unread, failures


async def _partition_hint(admin: Client, name: str) -> str | None:
    """Return what to type instead of a topic that does not exist, if it is the name of a partition."""
    topic, _, partition = name.rpartition("-")
    if not (topic and re.fullmatch("[0-9]{1,9}", partition)):
        return None
    found = (await admin.topics([topic]))[topic]
    exists = found.error is None and int(partition) in found.leaders
    return (
        f"for partition {int(partition)} of topic {topic}: kgroups owners {shell(f'{topic}:{int(partition)}')}"
        if exists
        else None
    )
