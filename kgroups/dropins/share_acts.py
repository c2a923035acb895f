"""The changes of ``kafka-share-groups``: ``--reset-offsets``, ``--delete``, ``--delete-offsets``.

Like the Java tool, and unlike ``kgroups reset-offsets``, they neither ask for confirmation nor write an undo file.
"""

from __future__ import annotations

import sys
from typing import Any

from kgroups.admin.change.apply_offsets import apply_offsets
from kgroups.admin.change.delete_groups import delete_groups
from kgroups.admin.change.delete_now import delete_share_offsets
from kgroups.admin.change.plan_reset import plan_reset
from kgroups.admin.change.reset_request import ResetRequest
from kgroups.admin.query.list_groups import SHARERS
from kgroups.admin.query.select_groups import Selection, list_selected
from kgroups.cli.frame.group_options import check_name
from kgroups.model.groups import GroupState, GroupType, ListedGroup
from kgroups.model.names import check_sendable
from kgroups.model.operations.reset import Scenario, ToEarliest, ToLatest, ToTime
from kgroups.model.operations.results import DeletedGroup
from kgroups.model.outcome import Failure, Outcome, Result, Scope
from kgroups.net.cluster import Cluster

from .acts import moment_of, topics_of
from .command import change_and_write, escape_for
from .joptsimple import ParsedOptions
from .sentences import other_type
from .text.operations import deleted_text, fallback_text, plan_text, remark_lines, undeleted_text
from .text.share import deleted_offsets_text, offset_errors_text


def reset(parsed: ParsedOptions) -> int:
    """Plan a reset, and with ``--execute`` apply it; print the new offsets in either case."""
    name = _one_group(parsed)
    # As in Kafka's tool: if both scopes are given, the named topics.
    topics = topics_of(parsed.all("topic")) if "topic" in parsed else None
    request = ResetRequest(Selection((name,)), _scenario(parsed), topics, kind=GroupType.SHARE, create=True)

    async def query(cluster: Cluster) -> Outcome[Any]:
        planned = await plan_reset(cluster, request)
        others = [entry for entry in planned.items if entry.kind != GroupType.SHARE]
        if others:
            return planned.with_items(()).with_failures([other_type("share", name)])
        if "execute" not in parsed:
            return planned
        applied = await apply_offsets(cluster, planned.items)
        written = [entry.planned for entry in applied.items if entry.result is Result.APPLIED]
        return planned.with_items(written).with_failures(applied.failures)

    def write(outcome: Outcome[Any]) -> None:
        for line in remark_lines(outcome.items):
            print(line, file=sys.stderr)
        show = escape_for(sys.stdout)
        sys.stdout.writelines(fallback_text(outcome.items, show=show))
        if not any(failure.scope is Scope.GROUP for failure in outcome.failures):
            sys.stdout.writelines(plan_text(outcome.items, (name,), show=show))

    return change_and_write(parsed, query, write)


def _scenario(parsed: ParsedOptions) -> Scenario:
    """Return the scenario of a reset.

    :raises UsageError: if a time is invalid.
    """
    if "to-earliest" in parsed:
        return ToEarliest()
    if "to-latest" in parsed:
        return ToLatest()
    return ToTime(moment_of(parsed.all("to-datetime")[0]))


def delete(parsed: ParsedOptions) -> int:
    """Delete share groups; request only groups that are listed as empty."""
    named = tuple(dict.fromkeys(parsed.all("group")))
    for name in named:
        check_name(name)

    async def query(cluster: Cluster) -> Outcome[Any]:
        listed = await list_selected(cluster, Selection(among=SHARERS._replace(with_states=True)))
        groups = {group.group_id: group for group in listed.items}
        rejected = [rejection for name in named or groups if (rejection := _rejection(name, groups.get(name)))]
        idle = [name for name in named or groups if name not in {each.group_id for each in rejected}]
        deleted = await delete_groups(cluster, idle)
        items = sorted((*deleted.items, *rejected), key=lambda each: each.group_id)
        return Outcome(tuple(items), listed.failures, (*listed.notices, *deleted.notices))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(deleted_text(outcome.items, escape_for(sys.stdout), kind="share"))
        sys.stdout.flush()
        sys.stderr.writelines(undeleted_text(outcome.items, escape_for(sys.stderr), kind="share"))

    return change_and_write(parsed, query, write, failed=lambda outcome: any(item.failure for item in outcome.items))


def _rejection(name: str, listed: ListedGroup | None) -> DeletedGroup | None:
    """Return the failure of a group that is not requested, with the message of the Java tool; otherwise ``None``."""
    if listed is None:
        message = f"java.lang.IllegalArgumentException: Group '{name}' is not a share group."
    elif listed.state == GroupState.DEAD:
        message = f"java.lang.IllegalStateException: Share group '{name}' group state is DEAD."
    elif listed.state != GroupState.EMPTY:
        exception = "org.apache.kafka.common.errors.GroupNotEmptyException"
        message = f"{exception}: Share group '{name}' is not EMPTY."
    else:
        return None
    return DeletedGroup(name, Result.FAILED, Failure(Scope.GROUP, name, message))


def delete_offsets(parsed: ParsedOptions) -> int:
    name = _one_group(parsed)
    topics = tuple(dict.fromkeys(parsed.all("topic")))
    for topic in topics:
        check_sendable(topic, "--topic")

    async def query(cluster: Cluster) -> Outcome[Any]:
        return await delete_share_offsets(cluster, name, topics)

    def write(outcome: Outcome[Any]) -> None:
        sys.stderr.writelines(offset_errors_text(outcome.items, escape_for(sys.stderr)))
        sys.stderr.flush()
        sys.stdout.writelines(deleted_offsets_text(outcome.items, show=escape_for(sys.stdout)))

    return change_and_write(parsed, query, write, failed=lambda outcome: any(item.failure for item in outcome.items))


def _one_group(parsed: ParsedOptions) -> str:
    """Return the only group.

    :raises OptionError: if there are several.
    :raises UsageError: if the name is invalid.
    """
    name = parsed.one("group") or ""
    check_name(name)
    return name
