"""What ``kafka-streams-groups`` changes: ``--reset-offsets``, ``--delete``, ``--delete-offsets``, and internal topics.

As the Java tool, and unlike ``kgroups``, these neither ask for confirmation nor write an undo file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kgroups.model.operations.internal_topics import doomed_topics
from kgroups.model.outcome import Failure, Outcome, Scope

from .acts import not_in_file, say_not_in_file, scenario_of, topics_of
from .command import names_on, settings_of, tell
from .joptsimple import ParsedOptions
from .streams_kind import only_streams, streams_selection

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.model.groups import Group
    from kgroups.model.operations.reset import PlannedOffset
    from kgroups.model.operations.results import DeletedGroup, DeletedTopic


def reset(given: ParsedOptions) -> int:
    """Plans, and with ``--execute`` writes; either way the new offsets are shown."""
    from kgroups.admin.change.reset_plan import ResetRequest
    from kgroups.admin.query.select_groups import Selection
    from kgroups.render.kafka.operations import fallback_text, plan_csv, remark_lines
    from kgroups.render.kafka.streams import plan_text

    selection = streams_selection(given)
    scenario, topics = scenario_of(given), _topics(given)
    asked: list[str] = []

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        described = await admin.describe(selection)
        groups = only_streams(described, described.items)
        asked.extend(group.group_id for group in groups.items)
        if not asked:
            return groups
        planned = await admin.plan_reset(ResetRequest(Selection(tuple(asked)), scenario, topics, create=True))
        planned = planned if topics is None else _committed_only(planned)
        if "execute" in given:
            planned = await _execute(admin, given, groups.items, planned)
        return planned.with_failures(groups.failures, groups.notices)

    def write(outcome: Outcome[Any]) -> None:
        planned: tuple[PlannedOffset, ...] = outcome.items
        for line in remark_lines(planned):
            print(line, file=sys.stderr)
        sys.stdout.writelines(fallback_text(planned, show=names_on(sys.stdout)))
        if "export" in given:
            sys.stdout.writelines(plan_csv(planned, with_group=len(given.all("group")) != 1, show=names_on(sys.stdout)))
        else:
            sys.stdout.writelines(plan_text(planned, asked, show=names_on(sys.stdout)))
        sys.stdout.flush()
        say_not_in_file(scenario, given.all("group"))

    return tell(settings_of(given), query, write, failed=lambda _: bool(not_in_file(scenario, given.all("group"))))


async def _execute(
    admin: GroupAdmin, given: ParsedOptions, groups: Sequence[Group], planned: Outcome[PlannedOffset]
) -> Outcome[PlannedOffset]:
    """Writes the plan, and then deletes the internal topics of the groups that are written; what was written."""
    from kgroups.admin.port.capabilities import TOPIC_DELETION

    checked = await admin.revalidate(planned.items)
    applied = await admin.apply_offsets(checked.items)
    written = [entry.planned for entry in applied.items if not entry.failure]
    failures = [*checked.failures, *applied.failures]
    named = given.all("delete-internal-topic")
    if named or "delete-all-internal-topics" in given:
        reached = {entry.group_id for entry in written} - {
            entry.planned.group_id for entry in applied.items if entry.failure
        }
        doomed = doomed_topics(
            (group for group in groups if group.group_id in reached),
            None if "delete-all-internal-topics" in given else named,
        )
        failures += [*doomed.failures, *(await TOPIC_DELETION.of(admin).delete_topics(doomed.items)).failures]
    return planned.with_items(written).with_failures(failures)


def _committed_only(planned: Outcome[PlannedOffset]) -> Outcome[PlannedOffset]:
    """The plan without the groups that have not committed on all partitions that were named."""
    strange = {entry.group_id for entry in planned.items if entry.before is None}
    failures = (
        Failure(Scope.GROUP, name, "it has not committed on all of these topics and partitions: it is not reset")
        for name in sorted(strange)
    )
    return planned.with_items(entry for entry in planned.items if entry.group_id not in strange).with_failures(failures)


def _topics(given: ParsedOptions) -> Mapping[str, frozenset[int] | None] | None:
    """The scope; ``None`` is what each group has committed on its input topics, or what the file says."""
    return None if given.any_of("all-input-topics", "from-file") else topics_of(given.all("input-topic"))


def delete(given: ParsedOptions) -> int:
    from kgroups.admin.port.capabilities import TOPIC_DELETION
    from kgroups.model.operations.results import DeletedGroup
    from kgroups.model.outcome import Result
    from kgroups.render.kafka.streams import deleted_text, undeleted_text

    selection = streams_selection(given)
    topics: list[DeletedTopic] = []

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        described = await admin.describe(selection)
        groups = only_streams(described, described.items)
        refused = [_not_deleted(failure) for failure in groups.failures if failure.scope is Scope.GROUP]
        rest = [failure for failure in groups.failures if failure.scope is not Scope.GROUP]
        deleted = await admin.delete_groups([group.group_id for group in groups.items])
        if "delete-all-internal-topics" in given:
            gone = {each.group_id for each in deleted.items if each.result is Result.APPLIED}
            doomed = doomed_topics(_idle(group) for group in groups.items if group.group_id in gone)
            topics.extend((await TOPIC_DELETION.of(admin).delete_topics(doomed.items)).items)
            rest += doomed.failures
        items = sorted((*deleted.items, *refused), key=lambda each: each.group_id)
        return Outcome(tuple(items), tuple(rest), (*groups.notices, *deleted.notices))

    def _not_deleted(failure: Failure) -> DeletedGroup:
        return DeletedGroup(failure.name, Result.FAILED, failure)

    def write(outcome: Outcome[Any]) -> None:
        sys.stdout.writelines(deleted_text(outcome.items, topics, names_on(sys.stdout)))
        sys.stdout.flush()
        sys.stderr.writelines(undeleted_text(outcome.items, topics, names_on(sys.stderr)))

    def failed(outcome: Outcome[Any]) -> bool:
        return any(each.failure for each in (*outcome.items, *topics))

    return tell(settings_of(given), query, write, failed=failed)


def _idle(group: Group) -> Group:
    """A group that was deleted had no members by then, whatever it had when it was described."""
    from kgroups.model.groups import GroupState

    return group._replace(state=GroupState.EMPTY)


def delete_offsets(given: ParsedOptions) -> int:
    from kgroups.admin.port.capabilities import OFFSET_DELETION
    from kgroups.cli.frame.group_options import check_name
    from kgroups.model.offsets import Isolation
    from kgroups.render.kafka.operations import forgotten_text, unforgotten_text

    group = given.one("group") or ""
    check_name(group)
    selection = streams_selection(given)
    topics: dict[str, frozenset[int] | None] = {}
    if "all-input-topics" not in given:
        topics = topics_of(given.all("input-topic"))

    async def query(admin: GroupAdmin) -> Outcome[Any]:
        if "all-input-topics" not in given:
            return await OFFSET_DELETION.of(admin).delete_offsets_now(group, topics)
        offsets = await admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED)
        mine = only_streams(offsets, [item.group for item in offsets.items])
        return await OFFSET_DELETION.of(admin).delete_offsets_now(group, _committed(mine.items)) if mine.items else mine

    def write(outcome: Outcome[Any]) -> None:
        sys.stderr.writelines(unforgotten_text(outcome.items, names_on(sys.stderr)))
        sys.stderr.flush()
        if outcome.items or not outcome.failures:
            sys.stdout.writelines(forgotten_text(group, outcome.items, show=names_on(sys.stdout)))

    return tell(settings_of(given), query, write, failed=lambda outcome: any(item.failure for item in outcome.items))


def _committed(offsets: Iterable[Any]) -> dict[str, frozenset[int] | None]:
    """The partitions of input topics that a group has committed on."""
    return {
        topic: frozenset(commit.partition for commit in commits)
        for item in offsets
        for topic, commits in item.commits.topics.items()
        if item.group.topology and topic in item.group.topology.sources
    }
