"""What ``kafka-share-groups`` changes: ``--reset-offsets``, ``--delete``, ``--delete-offsets``.

As the Java tool, and unlike ``kgroups reset-offsets``, these neither ask for confirmation nor write an undo file.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from kgroups.model.outcome import Failure, Outcome, Scope

from .acts import topics_of
from .command import names_on, settings_of, tell
from .joptsimple import ParsedOptions

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.groups import ListedGroup
    from kgroups.model.operations.reset import Scenario
    from kgroups.model.operations.results import DeletedGroup


def reset(given: ParsedOptions) -> int:
    """Plans, and with ``--execute`` writes; either way the new offsets are shown."""
    from kgroups.admin.change.reset_plan import ResetRequest
    from kgroups.admin.query.select_groups import Selection
    from kgroups.model.groups import GroupType
    from kgroups.render.kafka.operations import fallback_text, plan_text, remark_lines

    name = _one_group(given)
    # As for Kafka's tool: with both scopes, the topics that are named.
    topics = topics_of(given.all("topic")) if "topic" in given else None
    request = ResetRequest(Selection((name,)), _scenario(given), topics, kind=GroupType.SHARE, create=True)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        planned = await admin.plan_reset(request)
        others = [entry for entry in planned.items if entry.kind != GroupType.SHARE]
        if others:
            message = f"it is not a share group, but a {others[0].kind} group"
            return planned.with_items(()).with_failures([Failure(Scope.GROUP, name, message)])
        if "execute" not in given:
            return planned
        checked = await admin.revalidate(planned.items)
        applied = await admin.apply_offsets(checked.items)
        written = [entry.planned for entry in applied.items if not entry.failure]
        return planned.with_items(written).with_failures((*checked.failures, *applied.failures))

    def write(outcome: Outcome[Any]) -> None:
        for line in remark_lines(outcome.items):
            print(line, file=sys.stderr)
        show = names_on(sys.stdout)
        sys.stdout.writelines(fallback_text(outcome.items, show=show))
        if not any(failure.scope is Scope.GROUP for failure in outcome.failures):
            sys.stdout.writelines(plan_text(outcome.items, (name,), show=show))

    return tell(settings_of(given), query, write)


def _scenario(given: ParsedOptions) -> Scenario:
    """:raises UsageError: for a time that is none."""
    from kgroups.model.moments import parse_moment
    from kgroups.model.operations import reset

    if "to-earliest" in given:
        return reset.ToEarliest()
    if "to-latest" in given:
        return reset.ToLatest()
    return reset.ToTime(parse_moment(given.all("to-datetime")[0]))


def delete(given: ParsedOptions) -> int:
    """Only what the list calls an empty share group is asked to be deleted."""
    from kgroups.admin.query.list_groups import SHARERS
    from kgroups.cli.frame.group_options import check_name
    from kgroups.render.kafka.operations import deleted_text, undeleted_text

    named = tuple(dict.fromkeys(given.all("group")))
    for name in named:
        check_name(name)

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        listed = await admin.list_groups(SHARERS._replace(with_states=True))
        there = {group.group_id: group for group in listed.items}
        vain = [refused for name in named or there if (refused := _refused(name, there.get(name)))]
        idle = [name for name in named or there if name not in {each.group_id for each in vain}]
        deleted = await admin.delete_groups(idle)
        items = sorted((*deleted.items, *vain), key=lambda each: each.group_id)
        return Outcome(tuple(items), listed.failures, (*listed.notices, *deleted.notices))

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(deleted_text(outcome.items, names_on(sys.stdout), kind="share"))
        sys.stdout.flush()
        sys.stderr.writelines(undeleted_text(outcome.items, names_on(sys.stderr), kind="share"))

    return tell(settings_of(given), query, write, failed=lambda outcome: any(item.failure for item in outcome.items))


def _refused(name: str, listed: ListedGroup | None) -> DeletedGroup | None:
    """A group that is not asked to be deleted, and why, in Java's words."""
    from kgroups.model.groups import GroupState
    from kgroups.model.operations.results import DeletedGroup
    from kgroups.model.outcome import Result

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


def delete_offsets(given: ParsedOptions) -> int:
    from kgroups.admin.port.capabilities import SHARE_OFFSET_DELETION
    from kgroups.model.names import check_sendable
    from kgroups.render.kafka.share import forgotten_text, unforgotten_text

    name = _one_group(given)
    topics = tuple(dict.fromkeys(given.all("topic")))
    for topic in topics:
        check_sendable(topic, "--topic")

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        return await SHARE_OFFSET_DELETION.of(admin).delete_share_offsets(name, topics)

    def write(outcome: Outcome[Any]) -> None:
        sys.stderr.writelines(unforgotten_text(outcome.items, names_on(sys.stderr)))
        sys.stderr.flush()
        sys.stdout.writelines(forgotten_text(outcome.items, show=names_on(sys.stdout)))

    return tell(settings_of(given), query, write, failed=lambda outcome: any(item.failure for item in outcome.items))


def _one_group(given: ParsedOptions) -> str:
    """:raises OptionError: when there are several.
    :raises UsageError: for a name that cannot be.
    """
    from kgroups.cli.frame.group_options import check_name

    name = given.one("group") or ""
    check_name(name)
    return name
