"""The changes of ``kafka-share-groups``."""

from __future__ import annotations

import sys
from typing import Any

from kgroups.admin.change.apply.delete_groups import delete_groups
from kgroups.admin.change.apply.delete_now import delete_share_offsets
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.list_groups import SHARERS
from kgroups.admin.query.select_groups import Selection, list_selected
from kgroups.model.groups import GroupState, GroupType, ListedGroup, check_sendable
from kgroups.model.operations.results import DeletedGroup
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster

from . import changes
from .joptsimple import ParsedOptions
from .releases import release
from .reset_options import reject_duplicates, scenario_of
from .run import change_and_write
from .sentences import escape_for, other_type
from .text import share
from .text.operations import deleted_text, plan_text, undeleted_text
from .topics import topics_of
from .views import TOOLS, group_names

_GROUPS = TOOLS["share"]


def reset(parsed: ParsedOptions) -> int:
    """Plan a reset, and with ``--execute`` apply it; print the new offsets in either case."""
    name = changes.one_group(parsed)
    # As in Kafka's tool 4.3: if both scopes are given, the named topics.
    topics = topics_of(parsed.all("topic")) if "topic" in parsed else None
    scenario = scenario_of(parsed)
    request = ResetRequest(Selection((name,)), scenario, topics, kind=GroupType.SHARE, create=True, announce=False)

    async def query(cluster: Cluster) -> Outcome[Any]:
        planned = await plan_reset(cluster, request)
        if any(entry.kind != GroupType.SHARE for entry in planned.items):
            return planned.with_items(()).with_failures([other_type("share", name)])
        reject_duplicates(parsed.all("topic"), scenario, planned.items)
        return (await changes.apply(cluster, planned)).written if "execute" in parsed else planned

    def write(outcome: Outcome[Any]) -> None:
        has_table = not any(failure.scope is Scope.GROUP for failure in outcome.failures)
        headed = (name,) if release().share_empty_plan_has_header else ()
        table = plan_text(outcome.items, headed, show=escape_for(sys.stdout))
        changes.write_plan(parsed, outcome.items, table if has_table else iter(()))
        changes.print_groups_without_plan(scenario, (name,))

    failed = bool(changes.groups_without_plan(scenario, (name,)))
    return change_and_write(parsed, query, write, failed=lambda _: failed)


def delete(parsed: ParsedOptions) -> int:
    """Delete share groups; request only groups that are listed as empty."""
    named = group_names(parsed)

    async def query(cluster: Cluster) -> Outcome[Any]:
        listed = await list_selected(cluster, Selection(among=SHARERS._replace(with_states=True)))
        groups = {group.group: group for group in listed.items}
        rejected = [rejection for name in named or groups if (rejection := _not_deleted(name, groups.get(name)))]
        idle = [name for name in named or groups if name not in {each.group for each in rejected}]
        deleted = await delete_groups(cluster, idle)
        items = sorted((*deleted.items, *rejected), key=lambda each: each.group)
        return Outcome(tuple(items), listed.failures, (*listed.notices, *deleted.notices))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(undeleted_text(outcome.items, escape_for(sys.stdout), kind="share"))
        sys.stdout.writelines(deleted_text(outcome.items, escape_for(sys.stdout), kind="share"))

    return change_and_write(parsed, query, write, failed=changes.has_failed_items)


def _not_deleted(name: str, listed: ListedGroup | None) -> DeletedGroup | None:
    """Return the failure of a group that is not requested, with the message of the Java tool; otherwise ``None``."""
    if listed is None:
        message = f"{release().share_not_found}: Group '{name}' is not a share group."
    elif listed.state == GroupState.DEAD:
        message = f"java.lang.IllegalStateException: Share group '{name}' group state is DEAD."
    elif listed.state != GroupState.EMPTY:
        exception = "org.apache.kafka.common.errors.GroupNotEmptyException"
        message = f"{exception}: Share group '{name}' is not EMPTY."
    else:
        return None
    return DeletedGroup(name, Result.FAILED, Failure(Scope.GROUP, name, message))


def delete_offsets(parsed: ParsedOptions) -> int:
    name = changes.one_group(parsed)
    topics = tuple(dict.fromkeys(parsed.all("topic")))
    for topic in topics:
        check_sendable(topic, "--topic")

    async def query(cluster: Cluster) -> Outcome[Any]:
        return await delete_share_offsets(cluster, name, topics)

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(share.offset_errors_text(outcome.items, escape_for(sys.stdout)))
        sys.stdout.writelines(share.deleted_offsets_text(outcome.items, show=escape_for(sys.stdout)))

    return change_and_write(parsed, query, write, failed=changes.has_failed_items)
