"""The questions over librdkafka's AdminClient, one group a request: for where the wire client cannot serve.

What librdkafka does not tell, and what becomes of it here:

- Groups of other protocol types than ``consumer`` and ``""`` (Connect, share, streams): it does not list them, and
  refuses to describe them or takes them for groups that do not exist. A notice says so; asked for, a failure.
- Epochs, racks, and whether a member is upgraded: ``None``. Subscriptions, and what classic members own: empty.
- Assigning, Reconciling, NotReady: it has no names for them. ``None`` in the list, Unknown in a description.
- Who lists a group: worked out by Kafka's rule, and asked group by group where the rule does not hold.
- Which broker an error came from: ``None``, but for the logs.
- Records: it could read them, by a consumer for each; that is left to the wire client, and time lag is unknown.
- Operations: see :mod:`.operations`.

confluent-kafka 2.10 is needed: 2.8 takes KIP-848 groups for groups that do not exist.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec

from kgroups.config.librdkafka import librdkafka_options, make_client
from kgroups.config.settings import ClientSettings
from kgroups.errors import ClusterUnreachable, KgroupsError
from kgroups.model.cluster import Node
from kgroups.model.group_log import GroupLogs, Key, ReadBudget
from kgroups.model.groups import Group, GroupId, GroupType, ListedGroup
from kgroups.model.offsets import Commit, GroupCommits, Isolation, LogOffsets, Logs
from kgroups.model.operations.committing import RecentCommits
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import Acl
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.deadline import Deadline
from kgroups.net.in_thread import run_in_thread
from kgroups.protocol.apis.metadata import TopicLeaders

from ..change.lookups import Times
from ..query.authorization import missing_acls, note_omitted_groups, note_omitted_offsets
from ..query.list_groups import ListFilter
from ..query.select_groups import Selection
from ..routing.backoff import FIRST_PAUSE
from ..routing.coverage import missing_coordinators
from ..routing.partition_leaders import LEADER_ROUNDS, partition_name
from . import conversions, results
from .operations import Operations, PartitionFailures
from .requests import AGAIN, CircuitBreaker, RequestFailed, ask_each, with_retries

T = TypeVar("T")
Start = Callable[[], Future[Any]]

UNBOUNDED = 3600.0
"""The longest request_timeout that librdkafka takes. We time requests ourselves and drop those that take too long: when
librdkafka gives up on a question to a coordinator, and the answer comes after all, it aborts the process (librdkafka
issue 4605, still so in 2.16)."""

MIN_SOCKET_TIMEOUT = 100
GRACE = 1.0
"""Seconds that librdkafka is given to come back with what it has when its own time is up, and to end."""

_SILENT = frozenset({KafkaError._TIMED_OUT, KafkaError._TIMED_OUT_QUEUE, KafkaError._TRANSPORT})


class RdkafkaAdmin(Operations):
    """An AdminClient that has reached its cluster; :meth:`connect` makes one."""

    def __init__(self, client: AdminClient, settings: ClientSettings) -> None:
        self._client = client
        self._settings = settings
        self._deadline = Deadline(settings.timeout)
        self._cluster_id: str | None = None
        self._missing: tuple[Failure, ...] = ()
        self._sees_topics = True
        self._placement = conversions.Placement()
        self._gates: dict[Node | None, CircuitBreaker] = {}

    @classmethod
    async def connect(cls, settings: ClientSettings) -> RdkafkaAdmin:
        """Waits until a broker has answered: AdminClient itself connects later, and in silence.

        :raises ClusterUnreachable: when none does, with what librdkafka said of each.
        :raises ConfigError: for settings that librdkafka does not take.
        """
        told: list[KafkaError] = []
        options = librdkafka_options(settings) | {
            "error_cb": told.append,
            # FindCoordinator may go to a broker that hangs: this leaves time to ask another one.
            "socket.timeout.ms": max(MIN_SOCKET_TIMEOUT, min(300_000, int(settings.broker_timeout * 500))),
        }
        admin = cls(make_client(AdminClient, options), settings)
        try:
            await admin._reach(told)
        except KgroupsError:
            await admin._end()
            raise
        return admin

    async def _end(self) -> None:
        """Ends librdkafka's threads, which try on: they would use OpenSSL while the process takes it down at its own
        end, and crash it. One that waits for a token endpoint takes its time, and does nothing of the kind."""
        held = [self._client]
        await self.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await run_in_thread(held.clear, "close librdkafka")

    async def _reach(self, told: list[KafkaError]) -> None:
        patience = self._patience()
        # Not list_topics(topic), which creates the topic where brokers create topics.
        asked = self._client.describe_topics(TopicCollection([OFFSETS_TOPIC]), request_timeout=UNBOUNDED)
        reply = asyncio.wrap_future(asked[OFFSETS_TOPIC])
        while not reply.done():
            self._client.poll(0)
            down = any(error.code() == KafkaError._ALL_BROKERS_DOWN for error in told)
            if down or not patience.remaining():
                reply.cancel()
                raise self._unreachable(
                    told, "cannot connect" if down else f"no response within {patience.seconds:.3g} s"
                )
            await asyncio.wait((reply,), timeout=0.02)
        try:
            description = reply.result()
        except KafkaException as error:
            if error.args[0].code() < 0:
                raise self._unreachable(told, error.args[0].str()) from None
            self._sees_topics = error.args[0].code() != KafkaError.TOPIC_AUTHORIZATION_FAILED
        else:
            self._placement = conversions.placement_of(description)
            self._missing = missing_coordinators((conversions.leaders_of(description),))
        self._cluster_id = await self._identify(patience)

    async def _identify(self, patience: Deadline) -> str | None:
        if hasattr(self._client, "cluster_id"):  # newer than 2.10; says what is known by now
            return self._client.cluster_id(timeout=patience.remaining()) or None
        try:
            async with asyncio.timeout(patience.remaining()):
                cluster = await asyncio.wrap_future(self._client.describe_cluster(request_timeout=UNBOUNDED))
        except (TimeoutError, KafkaException):
            return None
        return cluster.cluster_id or None

    def _unreachable(self, told: Iterable[KafkaError], otherwise: str) -> ClusterUnreachable:
        texts = [error.str() for error in told if error.code() != KafkaError._ALL_BROKERS_DOWN]
        reasons = conversions.reasons(texts) or [f"{self._settings.bootstrap_servers}: {otherwise}"]
        return ClusterUnreachable("no bootstrap server responded: " + "; ".join(reasons))

    @property
    def cluster_id(self) -> str | None:
        return self._cluster_id

    async def close(self) -> None:
        """librdkafka closes its connections when its client is no longer referred to."""
        del self._client

    async def list_groups(self, wanted: ListFilter) -> Outcome[ListedGroup]:
        entries, failures = await self._list()
        stateless = [name for name in entries if conversions.state_of(entries[name]) is None]
        described, vain = await self._locate(entries, stateless if wanted.states or wanted.with_states else ())
        groups: list[ListedGroup] = []
        for name in sorted(entries):
            entry, group = entries[name], described.get(name)
            node = group.coordinator if group else self._placement.coordinator(name)
            if name in vain and (node is None or name in stateless):
                failures += () if conversions.is_missing(vain[name]) else (vain[name],)
            elif node:
                state = conversions.state_of(entry) or (conversions.known_state(group) if group else None)
                groups.append(
                    ListedGroup(name, conversions.protocol_type_of(entry), node, state, conversions.type_of(entry))
                )
        kept, refused, notices = results.filtered(groups, wanted)
        failures += tuple(Failure(Scope.CLUSTER, self._name, message, api="ListGroups") for message in refused)
        answer = Outcome(tuple(kept), (*failures, *self._missing), (results.UNLISTED, *notices))
        return note_omitted_groups(answer, await self._hidden_by(entries.values()))

    async def describe(self, selection: Selection) -> Outcome[Group]:
        pairs = await self._pairs(selection, with_commits=bool(selection.topics))
        groups = tuple(group for group, _ in pairs.items)
        untold = any(group.members or group.type == GroupType.CONSUMER for group in groups)
        return pairs.with_items(groups).with_failures((), (results.UNTOLD,) if untold else ())

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]:
        pairs = await self._pairs(selection, with_commits=True)
        wanted = results.partitions_of(pairs.items, selection.topics)
        logs, failures = await self._logs(wanted, isolation, whole_topics)
        described = (GroupOffsets(group, commits, logs, selection.topics) for group, commits in pairs.items)
        known = bool(pairs.hidden_by) or not self._sees_topics
        return note_omitted_offsets(pairs.with_items(described).with_failures(failures), known=known)

    async def describe_nodes(self, groups: Sequence[Group]) -> Outcome[Group]:
        return Outcome(tuple(groups))  # librdkafka describes no streams groups: there is nothing to complete

    async def stream_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> AsyncGenerator[Outcome[GroupOffsets]]:
        """One batch: librdkafka answers group by group."""
        yield await self.describe_offsets(selection, isolation=isolation, whole_topics=whole_topics)

    async def find_unread(
        self, positions: Iterable[Position], *, isolation: Isolation
    ) -> tuple[Mapping[Position, FirstUnread], tuple[Failure, ...]]:
        """Records are read over the wire only: every position is unknown, for one reason."""
        wanted = dict.fromkeys(positions, FirstUnread(failed=results.UNREAD))
        return wanted, (Failure(Scope.CLUSTER, self._name, results.UNREAD),) if wanted else ()

    async def read_group_logs(
        self, wanted: Mapping[GroupId, frozenset[Key]], limits: ReadBudget, *, retention: bool = False
    ) -> GroupLogs:
        """Records are read over the wire only."""
        return GroupLogs({}, (f"--deep: {results.UNREAD_LOG}",), unread=dict.fromkeys(wanted, results.UNREAD_LOG))

    async def recent_commits(self, groups: Sequence[GroupId], since: int) -> RecentCommits:
        """Records are read over the wire only."""
        return RecentCommits({}, dict.fromkeys(groups, results.UNREAD_LOG))

    async def committed(self, groups: Sequence[GroupId]) -> Mapping[GroupId, Mapping[tuple[str, int], Commit | None]]:
        return (await self.groups(Selection(tuple(groups))))[1]

    async def pause(self, seconds: float, passed: float = 0.0) -> None:
        self._deadline.extend(passed)
        self._deadline.extend_by_wait(seconds)
        await asyncio.sleep(seconds)

    # Below: groups.

    async def _pairs(self, selection: Selection, *, with_commits: bool) -> Outcome[results.Pair]:
        """The selected groups, sorted, each beside its commits where these are wanted."""
        listed: set[GroupId] = set()
        failures: tuple[Failure, ...] = ()
        hidden: tuple[Acl, ...] = ()
        if selection.needs_list:
            entries, failures = await self._list()
            hidden = await self._hidden_by(entries.values())
            failures += self._missing
            listed = {name for name in entries if selection.matches(name)}
        names = sorted(listed.union(selection.names))
        (groups, unknown), (commits, unread) = await asyncio.gather(
            self._each(names, self._describe), self._each(names if with_commits else (), self._commits)
        )
        for name, failure in unknown.items():
            if conversions.is_missing(failure) and name in commits and commits[name].topics:
                unknown[name] = conversions.undescribed(failure)
        vain = {**unread, **unknown}
        pairs = [(groups[name], commits.get(name, GroupCommits(name, {}))) for name in names if name not in vain]
        if selection.topics:
            pairs = results.on_topics(pairs, selection.topics)
        reasons = [conversions.vanished(vain[name]) if name in listed else vain[name] for name in names if name in vain]
        notices = results.remarks(pairs, reasons, listed=selection.needs_list)
        return note_omitted_groups(Outcome(tuple(pairs), (*failures, *reasons), notices), hidden)

    async def _hidden_by(self, entries: Collection[Any]) -> tuple[Acl, ...]:
        """The ACL without which brokers left groups out of this list, where it is known to be missing."""
        client = self._client

        def start() -> Future[Any]:
            asked: Future[Any] = client.describe_cluster(include_authorized_operations=True, request_timeout=UNBOUNDED)
            return asked

        try:
            told = await self._reply(Scope.CLUSTER, self._name, "DescribeCluster", start)
        except RequestFailed:
            return ()
        return missing_acls(results.operations_of(told, entries))

    async def _list(self) -> tuple[dict[GroupId, Any], tuple[Failure, ...]]:
        """Every group that librdkafka lists, once, and why others may be left out.

        Asks until all brokers have loaded their groups; what is there when patience ends comes with failures.
        """
        api = "ListGroups"
        so_far: tuple[dict[GroupId, Any], tuple[Failure, ...]] = ({}, ())

        def start() -> Future[Any]:
            # Timed by librdkafka, for it then gives what the other brokers have told; no coordinator is asked.
            listing: Future[Any] = self._client.list_consumer_groups(request_timeout=min(self._bound(), UNBOUNDED))
            return listing

        async def ask() -> None:
            nonlocal so_far
            answer = await self._reply(Scope.CLUSTER, self._name, api, start, grace=GRACE)
            errors = [getattr(error, "args", (error,))[0] for error in answer.errors or ()]
            failures = [
                Failure(Scope.CLUSTER, self._name, "a broker did not answer in time: its groups are left out", api=api)
                if error.code() in _SILENT
                else conversions.failure_of(Scope.CLUSTER, self._name, api, error)
                for error in errors
            ]
            so_far = results.once_each(answer.valid or ()), tuple(dict.fromkeys(failures))
            for failure in failures:
                if failure.code in AGAIN:
                    raise RequestFailed(failure)

        try:
            await with_retries(ask, self._patience())
        except RequestFailed as refused:
            return so_far[0], so_far[1] or (refused.failure,)
        return so_far

    async def _locate(
        self, names: Iterable[GroupId], wanted: Iterable[GroupId]
    ) -> tuple[dict[GroupId, Group], dict[GroupId, Failure]]:
        """Describes the wanted groups, and as many others as it takes to know every group's coordinator.

        Where Kafka's rule is right about the described ones, it is believed for the others.
        """
        order = sorted(names)
        sample = {order[0], order[len(order) // 2], order[-1]} if order else set()
        found, vain = await self._each(sample.union(wanted), self._describe)
        if any(self._placement.coordinator(name) != group.coordinator for name, group in found.items()):
            self._placement = conversions.Placement()
        rest = [name for name in order if name not in found | vain and self._placement.coordinator(name) is None]
        more, in_vain = await self._each(rest, self._describe)
        return {**found, **more}, {**vain, **in_vain}

    async def _each(
        self, names: Iterable[GroupId], ask: Callable[[GroupId], Awaitable[T]]
    ) -> tuple[dict[GroupId, T], dict[GroupId, Failure]]:
        def gate_of(name: GroupId) -> CircuitBreaker:
            return self._gates.setdefault(self._placement.coordinator(name), CircuitBreaker())

        return await ask_each(names, ask, gate_of)

    async def _describe(self, name: GroupId) -> Group:
        client = self._client
        api = "DescribeGroups"
        told = await self._of_group(
            name, api, lambda: client.describe_consumer_groups([name], request_timeout=UNBOUNDED)[name]
        )
        group = conversions.group_of(told)
        if isinstance(group, Group):
            return group
        raise RequestFailed(group.failure(Scope.GROUP, name, api=api))

    async def _commits(self, name: GroupId) -> GroupCommits:
        client, asked = self._client, [ConsumerGroupTopicPartitions(name)]
        told = await self._of_group(
            name, "OffsetFetch", lambda: client.list_consumer_group_offsets(asked, request_timeout=UNBOUNDED)[name]
        )
        return conversions.commits_of(name, told)

    async def _of_group(self, name: GroupId, api: str, start: Start) -> Any:
        reason = conversions.unaskable(name)
        if reason:
            raise RequestFailed(Failure(Scope.GROUP, name, reason, api=api))
        return await with_retries(lambda: self._reply(Scope.GROUP, name, api, start), self._patience())

    # Below: logs.

    async def _logs(
        self, wanted: set[tuple[str, int]], isolation: Isolation, whole_topics: bool
    ) -> tuple[Logs, tuple[Failure, ...]]:
        """Both ends, each leader asked for itself: one that hangs holds up no other."""
        survey = results.LogOffsetCollector()
        pending = wanted
        for attempt in range(LEADER_ROUNDS):
            await asyncio.sleep(attempt * FIRST_PAUSE)
            told = await self._leaders({topic for topic, _ in pending})
            if whole_topics and not attempt:
                pending = results.whole_topics(pending, told)
            leaders = survey.place(pending, told)
            jobs = [
                self._ends(survey, leader, pairs, isolation, starts)
                for leader, pairs in leaders.items()
                for starts in (False, True)
            ]
            await asyncio.gather(*jobs)
            pending = survey.moved()
            if not pending:
                break
        return survey.logs()

    async def _leaders(self, topics: Iterable[str]) -> dict[str, TopicLeaders | Failure]:
        names = sorted(topics)
        if not names:
            return {}
        # One request for all of them; each has a future of its own.
        asked = self._client.describe_topics(TopicCollection(names), request_timeout=UNBOUNDED)

        async def one(topic: str) -> TopicLeaders | Failure:
            try:
                told = await self._reply(Scope.TOPIC, topic, "Metadata", partial(asked.__getitem__, topic))
            except RequestFailed as refused:
                return refused.failure
            return conversions.leaders_of(told)

        return dict(zip(names, await asyncio.gather(*map(one, names)), strict=True))

    async def _logs_at(self, pairs: set[tuple[str, int]], ms: int | None) -> tuple[Logs, Times, tuple[Failure, ...]]:
        logs, holes = await self._logs(pairs, Isolation.READ_UNCOMMITTED, whole_topics=False)
        if ms is None:
            return logs, {}, holes
        readable = sorted(pairs - logs.holes.keys())
        spec = OffsetSpec.for_timestamp(ms)
        asked = self._client.list_offsets({TopicPartition(*pair): spec for pair in readable}, request_timeout=UNBOUNDED)
        times: dict[tuple[str, int], int | None] = {}
        lost: dict[tuple[str, int], Failure] = {}

        async def one(pair: tuple[str, int], future: Future[Any]) -> None:
            try:
                told = await self._reply(Scope.PARTITION, partition_name(pair), "ListOffsets", lambda: future)
                times[pair] = told.offset if told.offset >= 0 else None
            except RequestFailed as refused:
                lost[pair] = refused.failure

        await asyncio.gather(*(one((entry.topic, entry.partition), future) for entry, future in asked.items()))
        reasons = {pair: failure.message for pair, failure in lost.items()}
        return Logs(logs.offsets, {**logs.holes, **reasons}), times, (*holes, *lost.values())

    async def _ends(
        self,
        survey: results.LogOffsetCollector,
        leader: int,
        pairs: list[tuple[str, int]],
        isolation: Isolation,
        starts: bool,
    ) -> None:
        spec = OffsetSpec.earliest() if starts else OffsetSpec.latest()  # type: ignore[no-untyped-call]  # its stub
        level = IsolationLevel(int(isolation))
        wanted = {TopicPartition(*pair): spec for pair in pairs}
        asked = self._client.list_offsets(wanted, isolation_level=level, request_timeout=UNBOUNDED)

        async def one(pair: tuple[str, int], future: Future[Any]) -> None:
            try:
                told = await self._reply(Scope.PARTITION, partition_name(pair), "ListOffsets", lambda: future)
            except RequestFailed as refused:
                survey.note(pair, refused.failure._replace(broker=leader))
            else:
                survey.note(pair, LogOffsets(told.offset, None) if starts else LogOffsets(None, told.offset))

        await asyncio.gather(*(one((entry.topic, entry.partition), future) for entry, future in asked.items()))

    # Below: changes.

    async def _alter(self, group: GroupId, commits: Sequence[tuple[str, Commit]]) -> PartitionFailures:
        client, api = self._client, "OffsetCommit"
        request = [ConsumerGroupTopicPartitions(group, [_entry(topic, commit) for topic, commit in commits])]
        told = await self._of_group(
            group, api, lambda: client.alter_consumer_group_offsets(request, request_timeout=UNBOUNDED)[group]
        )
        failures: dict[tuple[str, int], Failure] = {}
        for entry in told.topic_partitions:
            if entry.error:
                pair = (entry.topic, entry.partition)
                failure = conversions.failure_of(Scope.PARTITION, partition_name(pair), api, entry.error)
                failures[pair] = failure._replace(message=f"group '{group}': {failure.message}", general=None)
        return failures

    async def _delete(self, group: GroupId) -> None:
        client = self._client
        await self._of_group(
            group, "DeleteGroups", lambda: client.delete_consumer_groups([group], request_timeout=UNBOUNDED)[group]
        )

    async def _authorizes(self) -> bool:
        """Return whether brokers may check ACLs: ``False`` only if one reports that it has no authorizer."""
        # DescribeAcls would report the same, but librdkafka returns an empty list in place of its error.
        node = next(filter(None, self._placement.leaders), None)
        if node is None:
            return True
        client, broker = self._client, ConfigResource(ConfigResource.Type.BROKER, str(node.id))
        start = partial(_only, client.describe_configs, [broker])
        try:
            told = await self._reply(Scope.CLUSTER, self._name, "DescribeConfigs", start)
        except RequestFailed:
            return True
        setting = told.get("authorizer.class.name")
        return setting is None or setting.value != ""

    # Below: one request.

    @property
    def _name(self) -> str:
        return self._cluster_id or self._settings.bootstrap_servers

    def _bound(self) -> float:
        return self._deadline.bound(self._settings.broker_timeout)

    def _patience(self) -> Deadline:
        return self._deadline.within(self._settings.broker_timeout)

    async def _reply(self, scope: Scope, name: str, api: str, start: Start, *, grace: float = 0.0) -> Any:
        """What ``start`` asks for, in the time that one broker is given.

        :raises RequestFailed: when there is an error instead, or nothing.
        """
        silence = f"no answer in time (--broker-timeout is {self._settings.broker_timeout:g} s)"
        try:
            async with asyncio.timeout(self._bound() + grace):
                return await asyncio.wrap_future(start())
        except TimeoutError:
            raise RequestFailed(Failure(scope, name, silence, api=api), no_response=True) from None
        except KgroupsError as error:
            raise RequestFailed(Failure.of(error, scope, name, api=api), no_response=True) from None
        except KafkaException as error:
            told: KafkaError = error.args[0]
            if told.code() in _SILENT:
                raise RequestFailed(Failure(scope, name, silence, api=api), no_response=True) from None
            raise RequestFailed(conversions.failure_of(scope, name, api, told)) from None


def _entry(topic: str, commit: Commit) -> TopicPartition:
    known = {"metadata": commit.metadata, "leader_epoch": commit.leader_epoch}
    given: dict[str, Any] = {name: value for name, value in known.items() if value is not None}
    return TopicPartition(topic, commit.partition, commit.offset, **given)


def _only(ask: Callable[..., Mapping[Any, Future[Any]]], request: Sequence[object]) -> Future[Any]:
    """Put a request about one resource; return its answer to come."""
    (answer,) = ask(request, request_timeout=UNBOUNDED).values()
    return answer
