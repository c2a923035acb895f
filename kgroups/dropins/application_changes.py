"""``kafka-streams-application-reset``: the reset of an application of Kafka Streams, which is a classic group.

Unlike the Java tool, it checks everything before it changes anything, and a dry run removes no members.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from kgroups.admin.change.apply.delete_now import delete_topics
from kgroups.admin.change.apply.remove_members import remove_members
from kgroups.admin.change.plan.lookups import without_members
from kgroups.admin.change.plan.plan_removal import WantedMembers, plan_removal
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest, is_gone
from kgroups.admin.query.describe import describe
from kgroups.admin.query.select_groups import Selection, list_selected
from kgroups.cli.frame.selected_groups import check_name
from kgroups.errors import KgroupsError, Reason, UsageError
from kgroups.model.cluster import NO_NODE
from kgroups.model.counts import count
from kgroups.model.groups import Group, GroupState, GroupType
from kgroups.model.offsets import Commit, PlanKey, place_name
from kgroups.model.operations.internal_topics import without_hidden, without_others
from kgroups.model.operations.reset import (
    FromPlan,
    PlannedOffset,
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
)
from kgroups.model.operations.results import DeletedTopic, TopicDeletion
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.model.placement import INTERNAL_TOPICS
from kgroups.model.streams_groups import is_internal_name
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import Metadata, TopicLeaders

from . import changes
from .joptsimple import OptionError, ParsedOptions
from .reset_options import scenario_of
from .run import change_and_write
from .sentences import CausedBy, ToolError, escape_for
from .streams_application_reset import SCENARIOS
from .text import application as text
from .views import TOOLS

_LOCAL = "localhost:9092"
_NO_OFFSET = (
    'java.lang.NullPointerException: Cannot invoke "java.lang.Long.longValue()" because the return value of '
    '"java.util.Map.get(Object)" is null'
)
_NOT_INTERNAL = (
    "java.lang.IllegalArgumentException: Invalid topic specified in the --internal-topics option. Ensure that the "
    "topics specified are all internal topics. Do a dry run without the --internal-topics option to see the list of "
    "all internal topics that can be deleted."
)
_NOT_CLASSIC = (
    "org.apache.kafka.common.errors.GroupIdNotFoundException: Group {} is a streams group: use kafka-streams-groups."
)


def reset(parsed: ParsedOptions) -> int:
    """Reset the offsets on input and intermediate topics, then delete internal topics; print each step."""
    application = parsed.one("application-id") or ""
    check_name(application, "--application-id")
    lines: list[str] = [text.CONFIG_FILE] if "config-file" in parsed else []
    missing: list[str] = []

    async def query(cluster: Cluster) -> Outcome[Any]:
        return await _Reset(cluster, application, parsed, lines, missing).run()

    def write(outcome: Outcome[Any]) -> None:
        _print(lines)
        show = escape_for(sys.stderr)
        sys.stderr.writelines(f"{show(line)}\n" for line in text.undeleted_lines(outcome.items))

    server, config = parsed.one("bootstrap-server"), parsed.one("config-file")
    given = {"bootstrap-server": _LOCAL if server is None else server}
    try:
        with_file = {} if config is None else {"command-config": config}
        return change_and_write(parsed.completed({**given, **with_file}), query, write, failed=lambda _: bool(missing))
    except (KgroupsError, OptionError):
        _print(lines)
        raise


def _print(lines: Iterable[str]) -> None:
    show = escape_for(sys.stdout)
    sys.stdout.writelines(f"{show(line)}\n" for line in lines)
    sys.stdout.flush()


class _Reset:
    """The reset of one application."""

    def __init__(
        self, cluster: Cluster, application: str, parsed: ParsedOptions, lines: list[str], missing: list[str]
    ) -> None:
        """Read the options.

        :param lines: receives the output.
        :param missing: receives the named topics that do not exist.
        """
        self._cluster, self._application, self._parsed = cluster, application, parsed
        self._lines, self._missing = lines, missing
        self._dry_run = "dry-run" in parsed
        self._selection = Selection((application,))
        self._inputs, self._ends = parsed.listed("input-topics"), parsed.listed("intermediate-topics")
        self._internal = parsed.listed("internal-topics")
        self._topics: dict[str, TopicLeaders] = {}

    async def run(self) -> Outcome[Any]:
        """Check everything, then change it; the items are the topics to delete, with the results.

        :raises ToolError: if there are members without ``--force``, a value is invalid, or a topic is not internal.
        """
        described = await self._describe()
        if described.failures:
            return described.with_items(())
        group = next(iter(described.items), Group(self._application, None, GroupState.DEAD, "", "", NO_NODE))
        if group.members:
            self._check_force(group)
        answer = await self._cluster.call_any(Metadata(None))
        self._topics = {each.topic: each for each in answer.topics if not is_gone(each)}
        self._topics = {topic: each for topic, each in self._topics.items() if topic not in INTERNAL_TOPICS}
        deletions = await self._deletions(group)
        if self._dry_run:
            self._lines.append(text.DRY_RUN)
        inputs, ends = self._select_topics()
        scenario = self._scenario(inputs) if inputs else None
        unknown = set(self._internal) - set(self._inferred())
        if unknown and not self._dry_run:
            raise self._not_internal(unknown)
        if group.members and not self._dry_run:
            removed = await self._remove_members()
            if removed.failures:
                return removed
        planned = await self._write(scenario, inputs, ends)
        if planned.failures:
            return planned.with_items(())
        if unknown:
            raise self._not_internal(unknown)
        names = self._internal or [each.topic for each in deletions.items]
        self._lines.append(text.deletion_text(names, named=bool(self._internal)))
        deleted = Outcome[DeletedTopic]() if self._dry_run else await self._delete(deletions.items)
        if not deleted.failures:
            self._lines.append(text.DONE)
        notices = (*planned.notices, *self._ignored(inputs, group))
        return deleted.with_failures(deletions.failures, (*deletions.notices, *notices))

    async def _describe(self) -> Outcome[Group]:
        """Return the group; nothing if it does not exist. A group of another type is a failure."""
        described = await describe(self._cluster, self._selection)
        found = [each for each in described.failures if each.error != NOT_FOUND]
        for group in described.items:
            if group.type == GroupType.STREAMS:
                cause = CausedBy(_NOT_CLASSIC.format(self._application))
                found.append(Failure(Scope.GROUP, self._application, cause, reason=Reason.NOT_APPLICABLE))
            elif rejected := TOOLS["consumer"].rejection(group):
                found.append(rejected)
        return Outcome(described.items, tuple(found))

    def _check_force(self, group: Group) -> None:
        members = group.members or ()
        if "force" not in self._parsed:
            cause = f"java.lang.IllegalStateException: {text.active_text(self._application, members)}"
            has = f"group '{self._application}' has {count(len(members), 'member')}"
            raise ToolError(cause, f"{has}; stop the application, or add --force; nothing was changed")
        self._lines.append(text.force_text(self._application))

    def _inferred(self) -> list[str]:
        """Return the topics that are named as internal topics of the application, sorted."""
        others = {*self._inputs, *self._ends}
        return sorted(name for name in self._topics.keys() - others if is_internal_name(name, self._application))

    async def _deletions(self, group: Group) -> Outcome[TopicDeletion]:
        """Return the internal topics to delete; those that may belong to another group must be named."""
        names = dict.fromkeys(self._internal or self._inferred())
        deletions = Outcome(tuple(TopicDeletion(group, name) for name in names))
        if self._internal or not names:
            return deletions
        listed = await list_selected(self._cluster, Selection())
        if listed.failures or listed.hidden_by:
            kept = without_hidden(deletions)
        else:
            kept = without_others(deletions, (each.group for each in listed.items))
        return kept.with_failures(listed.failures, listed.notices)

    def _select_topics(self) -> tuple[list[str], list[str]]:
        """Return the input topics and intermediate topics that exist, without duplicates."""
        if "intermediate-topics" in self._parsed:
            self._lines.append(text.INTERMEDIATE)
        if not (self._inputs or self._ends):
            self._lines.append(text.NO_TOPICS)
        missing = [[name for name in names if name not in self._topics] for names in (self._inputs, self._ends)]
        self._lines += text.selected_lines(self._inputs, self._ends, *missing)
        self._missing += (name for names in missing for name in names)
        inputs = sorted(self._topics.keys() & set(self._inputs))
        return inputs, sorted(self._topics.keys() & set(self._ends) - set(inputs))

    def _scenario(self, inputs: Sequence[str]) -> Scenario:
        self._lines.append(text.reset_text(self._application))
        for name in SCENARIOS:
            self._parsed.one(name)
        if not self._parsed.any_of(*SCENARIOS):
            return ToEarliest()
        try:
            scenario = scenario_of(self._parsed, (self._application,))
        except ToolError as error:
            if "by-duration" in self._parsed:
                error.cause = f"java.time.format.DateTimeParseException: {error.cause}"
            else:
                error.before = (text.RESET_FAILED,)
            raise
        if isinstance(scenario, FromPlan):
            self._check_file(scenario, inputs)
        return scenario

    def _check_file(self, plan: FromPlan, inputs: Sequence[str]) -> None:
        """Check that a file names each partition of the input topics, and no others.

        :raises UsageError: if it does not, or if it is not CSV.
        """
        path = self._parsed.one("from-file")
        if plan.origin:
            raise UsageError(f"--from-file: {path} is not CSV with the columns topic,partition,offset")
        wanted = {(self._application, topic, at) for topic in inputs for at in self._topics[topic].leaders}
        for keys, what in (
            (wanted - plan.moves.keys(), "has no offset of {}, a partition of an input topic"),
            (plan.moves.keys() - wanted, "has an offset of {}, which is not a partition of an input topic"),
        ):
            if keys:
                raise ToolError(_NO_OFFSET, f"--from-file: {path} {what.format(place_name(*min(keys)[1:]))}")

    def _not_internal(self, unknown: Iterable[str]) -> ToolError:
        names = ", ".join(sorted(unknown))
        return ToolError(_NOT_INTERNAL, f"--internal-topics: not internal topics of '{self._application}': {names}")

    async def _remove_members(self) -> Outcome[Any]:
        planned = await plan_removal(self._cluster, self._selection, WantedMembers(everyone=True))
        if planned.failures:
            return planned.with_items(())
        removed = await remove_members(self._cluster, planned.items, "kafka-streams-application-reset --force")
        return removed.with_items(())

    async def _write(
        self, scenario: Scenario | None, inputs: Sequence[str], ends: Sequence[str]
    ) -> Outcome[PlannedOffset]:
        """Plan the offsets, and unless it is a dry run write them; return what was planned or written."""
        planned, requested = Outcome[PlannedOffset](), dict[PlanKey, int]()
        if scenario:
            planned, requested = await self._plan_inputs(scenario, inputs)
        at_end = await self._plan(ToLatest(), ends) if ends and not planned.failures else Outcome()
        whole = at_end.with_items((*planned.items, *at_end.items)).after(planned)
        if whole.failures or not whole.items:
            return whole
        self._lines += text.offset_lines(planned.items, requested)
        self._lines += text.end_lines(self._application, at_end.items) if at_end.items else ()
        if not self._dry_run:
            whole = (await changes.apply(self._cluster, whole)).written
        if not whole.failures:
            self._lines.append(text.DONE)
        return whole

    async def _plan_inputs(
        self, scenario: Scenario, topics: Sequence[str]
    ) -> tuple[Outcome[PlannedOffset], dict[PlanKey, int]]:
        """Return the plan of the input topics, and the offsets that the scenario names."""
        if isinstance(scenario, ShiftBy):
            # Relative to the log's end where nothing is committed, as a consumer of the Java tool begins there.
            current = await self._plan(ToCurrent(), topics)
            if current.failures:
                return current, {}
            places = {entry.key: (entry.new or 0) + scenario.by for entry in current.items}
            scenario = FromPlan({key: Commit(key[2], offset) for key, offset in places.items()})
        planned = await self._plan(scenario, topics)
        return planned, _requested(scenario, planned.items)

    async def _plan(self, scenario: Scenario, topics: Sequence[str]) -> Outcome[PlannedOffset]:
        request = ResetRequest(
            self._selection,
            scenario,
            dict.fromkeys(topics),
            create=True,
            announce=False,
            option="--input-topics",
            with_members=self._dry_run,
        )
        return await plan_reset(self._cluster, request)

    async def _delete(self, deletions: Sequence[TopicDeletion]) -> Outcome[DeletedTopic]:
        """Delete topics, unless the group has members by now."""
        described = await self._describe() if deletions else Outcome[Group]()
        _, active = without_members(described.items)
        if failures := (*described.failures, *active):
            return Outcome(failures=failures)
        return await delete_topics(self._cluster, deletions)

    def _ignored(self, inputs: Sequence[str], group: Group) -> list[str]:
        """Return notices about options without effect."""
        notices = [f"--{name} has no effect without input topics" for name in SCENARIOS if name in self._parsed]
        notices = [] if inputs else notices
        if group.members and self._dry_run:
            notices.append("dry run: no members were removed")
        return notices


def _requested(scenario: Scenario, planned: Iterable[PlannedOffset]) -> dict[PlanKey, int]:
    """Return the offsets that a scenario names."""
    match scenario:
        case ToOffset(offset):
            return {entry.key: offset for entry in planned}
        case FromPlan(moves):
            return {key: move.offset for key, move in moves.items() if move}
    return {}
