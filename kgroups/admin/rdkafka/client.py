"""Query groups over librdkafka's AdminClient, one group per request, if the wire client cannot serve.

librdkafka does not expose:

- Groups with protocol types other than ``consumer`` and ``""`` (Connect, share, streams): it does not list them, and
  rejects requests to describe them or reports them as missing. This is a notice, or a failure if they were requested.
- Epochs, racks, and whether a member is upgraded: ``None``. Subscriptions, and what classic members own: empty.
- The states Assigning, Reconciling, and NotReady: ``None`` in a list, Unknown in a description.
- The broker that lists a group: derived from Kafka's rule, or described group by group if the rule does not hold.
- The broker that reported an error: ``None``, except for log offsets.
- Records: reading them would take a consumer; only the wire client reads them, so time lag is unknown.

It changes nothing. confluent-kafka 2.10 is required: 2.8 reports KIP-848 groups as missing.
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
)
from confluent_kafka import TopicPartition as RdTopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec

from kgroups.config.librdkafka import librdkafka_options, make_client
from kgroups.config.settings import ClientSettings
from kgroups.errors import ClusterUnreachable, KgroupsError, Reason, UnsupportedVersion
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupId, GroupType, ListedGroup
from kgroups.model.offsets import GroupCommits, Isolation, Logs
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import Acl, HiddenTopics, omitted_commits
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.deadline import Deadline
from kgroups.net.in_thread import run_in_thread
from kgroups.protocol.apis.list_offsets import Where
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code

from ..query.authorization import missing_acls, note_omitted_groups, note_omitted_offsets
from ..query.describe import on_topics, partitions_of
from ..query.list_groups import ListFilter
from ..query.log_offsets import LogCollector
from ..query.select_groups import Selection, keep_described, missing_as_failures, select
from ..routing.backoff import FIRST_PAUSE
from ..routing.coverage import missing_coordinators
from ..routing.partition_leaders import LEADER_ROUNDS, TopicPartition, may_heal, partition_name
from . import conversions
from .requests import RETRIABLE, CircuitBreaker, RequestFailed, SupportedApis, send_each, with_retries

T = TypeVar("T")
Start = Callable[[], Future[Any]]

UNBOUNDED = 3600.0
"""The longest request_timeout that librdkafka accepts. kgroups has its own timeouts and abandons requests: if a request
to a coordinator times out in librdkafka, and the response arrives later, librdkafka aborts the process (librdkafka
issue 4605, present in 2.16)."""

MIN_SOCKET_TIMEOUT = 100
GRACE = 1.0
"""Seconds for librdkafka to return partial results after its timeout, and to close."""

_NO_RESPONSE = frozenset({KafkaError._TIMED_OUT, KafkaError._TIMED_OUT_QUEUE, KafkaError._TRANSPORT})
_UNLOCATED = Node(-1, "", -1)
"""The coordinator of groups that are selected before it is looked up."""


class LibrdkafkaClient:
    """An admin over an AdminClient that has reached its cluster; create it with :meth:`connect`."""

    def __init__(self, client: AdminClient, settings: ClientSettings) -> None:
        self._client = client
        self._settings = settings
        self._deadline = Deadline(settings.timeout)
        self._cluster_id: str | None = None
        self._missing: tuple[Failure, ...] = ()
        self._placement = conversions.Placement()
        self._supported = SupportedApis(settings)
        self._breakers: dict[Node | None, CircuitBreaker] = {}

    @classmethod
    async def connect(cls, settings: ClientSettings) -> LibrdkafkaClient:
        """Connect, and wait until a broker has responded: AdminClient itself connects later, and reports no error.

        :raises ClusterUnreachable: if none does, with librdkafka's messages.
        :raises ConfigError: for settings that librdkafka rejects.
        """
        errors: list[KafkaError] = []
        options = librdkafka_options(settings) | {
            "error_cb": errors.append,
            # FindCoordinator may go to a broker that hangs: this leaves time to query another one.
            "socket.timeout.ms": max(MIN_SOCKET_TIMEOUT, min(300_000, int(settings.broker_timeout * 500))),
        }
        admin = cls(make_client(AdminClient, options), settings)
        try:
            await admin._reach(errors)
        except KgroupsError:
            await admin._stop()
            raise
        return admin

    async def _stop(self) -> None:
        """Stop librdkafka's threads, which would crash the process at its exit: they use OpenSSL while it is unloaded.

        A thread that waits for a token endpoint takes longer, but does not use OpenSSL then.
        """
        clients = [self._client]
        await self.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await run_in_thread(clients.clear, "close librdkafka")

    async def _reach(self, errors: list[KafkaError]) -> None:
        deadline = self._broker_deadline()
        await self._supported.ask(self._settings.bootstrap, deadline)
        self._supported.check("Metadata")
        # Not list_topics(topic), which creates the topic if brokers create topics automatically.
        futures = self._client.describe_topics(TopicCollection([OFFSETS_TOPIC]), request_timeout=UNBOUNDED)
        reply = asyncio.wrap_future(futures[OFFSETS_TOPIC])
        while not reply.done():
            self._client.poll(0)
            down = any(error.code() == KafkaError._ALL_BROKERS_DOWN for error in errors)
            if down or not deadline.remaining():
                reply.cancel()
                raise self._unreachable(
                    errors, "cannot connect" if down else f"no response within {deadline.seconds:.3g} s"
                )
            await asyncio.wait((reply,), timeout=0.02)
        try:
            description = reply.result()
        except KafkaException as error:
            if error.args[0].code() < 0:
                raise self._unreachable(errors, error.args[0].str()) from None
        else:
            self._placement = conversions.placement_of(description)
            self._missing = missing_coordinators((conversions.leaders_of(description),))
            brokers = ((node.host, node.port) for node in self._placement.leaders if node)
            await self._supported.ask(brokers, deadline)
        self._cluster_id = await self._fetch_cluster_id(deadline)

    async def _fetch_cluster_id(self, deadline: Deadline) -> str | None:
        if hasattr(self._client, "cluster_id"):  # newer than 2.10; returns the ID from the metadata
            return self._client.cluster_id(timeout=deadline.remaining()) or None
        try:
            async with asyncio.timeout(deadline.remaining()):
                cluster = await asyncio.wrap_future(self._client.describe_cluster(request_timeout=UNBOUNDED))
        except (TimeoutError, KafkaException):
            return None
        return cluster.cluster_id or None

    def _unreachable(self, errors: Iterable[KafkaError], otherwise: str) -> ClusterUnreachable:
        texts = [error.str() for error in errors if error.code() != KafkaError._ALL_BROKERS_DOWN]
        reasons = conversions.reasons(texts) or [f"{self._settings.bootstrap_servers}: {otherwise}"]
        return ClusterUnreachable("no bootstrap server responded: " + "; ".join(reasons))

    @property
    def cluster(self) -> None:
        """There is none: see :class:`..client.Client`."""

    @property
    def cluster_id(self) -> str | None:
        return self._cluster_id

    @property
    def name(self) -> str:
        return self._cluster_id or self._settings.bootstrap_servers

    async def close(self) -> None:
        """Drop the client: librdkafka closes its connections when no reference to it is left."""
        del self._client

    async def list_selected(self, selection: Selection) -> Outcome[ListedGroup]:
        entries, failures = await self._list()
        listed = await self._located(entries, failures, selection.among)
        listed = note_omitted_groups(listed, await self._missing_acls(entries.values()))
        every = entries if selection.globs and selection.among.restricts else None
        found = missing_as_failures(selection, select(selection, listed, every))
        if not selection.topics and selection.members is None:
            return found
        names = [group.group for group in found.items]
        pairs = await self._pairs_of(names, selection, listed=names, with_commits=bool(selection.topics))
        return keep_described(found, pairs.with_items(group for group, _ in pairs.items))

    async def _located(
        self, entries: Mapping[GroupId, Any], failures: tuple[Failure, ...], wanted: ListFilter
    ) -> Outcome[ListedGroup]:
        """Return the matching ones of listed groups, each with its coordinator; describe some groups for that."""
        stateless = [name for name in entries if conversions.state_of(entries[name]) is None]
        described, unavailable = await self._coordinators(
            entries, stateless if wanted.states or wanted.with_states else ()
        )
        groups: list[ListedGroup] = []
        for name in sorted(entries):
            entry, group = entries[name], described.get(name)
            node = group.coordinator if group else self._placement.coordinator(name)
            if name in unavailable and (node is None or name in stateless):
                failures += () if conversions.is_missing(unavailable[name]) else (unavailable[name],)
            elif node:
                state = conversions.state_of(entry) or (conversions.known_state(group) if group else None)
                groups.append(
                    ListedGroup(name, conversions.protocol_type_of(entry), node, state, conversions.type_of(entry))
                )
        kept, reasons, notices = conversions.filtered(groups, wanted)
        failures += tuple(
            Failure(Scope.CLUSTER, self.name, reason, api="ListGroups", reason=Reason.VERSION_UNSUPPORTED)
            for reason in reasons
        )
        return Outcome(tuple(kept), (*failures, *self._missing), (conversions.UNLISTED, *notices))

    async def describe(self, selection: Selection) -> Outcome[Group]:
        pairs = await self._pairs(selection, with_commits=bool(selection.topics))
        groups = tuple(group for group, _ in pairs.items)
        incomplete = any(group.members or group.type == GroupType.CONSUMER for group in groups)
        return pairs.with_items(groups).with_failures((), (conversions.UNREPORTED,) if incomplete else ())

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]:
        pairs = await self._pairs(selection, with_commits=True)
        partitions = partitions_of(pairs.items, selection.topics)
        logs, failures = await self._logs(partitions, isolation, whole_topics)
        hidden: HiddenTopics = conversions.UNSEEN if await self._authorizes() else frozenset()
        why = omitted_commits(hidden)
        described = (GroupOffsets(group, commits, logs, selection.topics, why) for group, commits in pairs.items)
        return note_omitted_offsets(pairs.with_items(described).with_failures(failures), hidden)

    async def stream_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> AsyncGenerator[Outcome[GroupOffsets]]:
        """Yield one batch: librdkafka queries group by group."""
        yield await self.describe_offsets(selection, isolation=isolation, whole_topics=whole_topics)

    async def topics(self, names: Sequence[str]) -> dict[str, TopicLeaders]:
        return {
            name: conversions.failed_topic(name, entry) if isinstance(entry, Failure) else entry
            for name, entry in (await self._leaders(names)).items()
        }

    # Groups.

    async def _pairs(self, selection: Selection, *, with_commits: bool) -> Outcome[conversions.Pair]:
        """Return the selected groups, sorted by name, each with its commits if ``with_commits``."""
        if not selection.needs_list:
            return await self._pairs_of(set(selection.names), selection, with_commits=with_commits)
        entries, failures = await self._list()
        hidden = await self._missing_acls(entries.values())
        unlocated = (ListedGroup(name, "", _UNLOCATED) for name in entries)
        listed: Outcome[Any] = Outcome(tuple(unlocated), (*failures, *self._missing))
        if selection.among.restricts:
            allowed = await self._located(entries, failures, selection.among)
            listed = listed.with_items(allowed.items).with_failures(allowed.failures)
        selection = selection.settled(entries)
        selected = select(selection, listed, entries)
        found = [group.group for group in selected.items]
        pairs = await self._pairs_of({*found, *selection.names}, selection, listed=found, with_commits=with_commits)
        pairs = pairs._replace(failures=(*selected.failures, *pairs.failures))
        return note_omitted_groups(pairs._replace(notices=(conversions.UNLISTED, *pairs.notices)), hidden)

    async def _pairs_of(
        self,
        groups: Iterable[GroupId],
        selection: Selection,
        *,
        listed: Collection[GroupId] = (),
        with_commits: bool,
    ) -> Outcome[conversions.Pair]:
        """Return those of these groups with the selected topics and members, sorted by name.

        :param listed: the groups that were in a list, which exist or have just been deleted.
        :param with_commits: return each with its commits.
        """
        names = sorted(groups)
        if selection.members is None:
            (found, unknown), (commits, unread) = await asyncio.gather(
                self._each(names, self._describe), self._each(names if with_commits else (), self._commits)
            )
        else:
            found, unknown = await self._each(names, self._describe)
            kept = selection.members.kept(Outcome(tuple(found.values()), tuple(unknown.values())))
            names = [group.group for group in kept.items]
            commits, unread = await self._each(names if with_commits else (), self._commits)
            unknown = {failure.name: failure for failure in kept.failures}
            names = sorted({*names, *unknown})
        for name, failure in unknown.items():
            if conversions.is_missing(failure) and name in commits and commits[name].topics:
                unknown[name] = conversions.undescribed(failure)
        unavailable = {**unread, **unknown}
        pairs = [(found[name], commits.get(name, GroupCommits(name, {}))) for name in names if name not in unavailable]
        if selection.topics:
            pairs = [pair for pair in (on_topics(*each, selection.topics) for each in pairs) if pair]
        reasons = [
            conversions.vanished(unavailable[name]) if name in listed else unavailable[name]
            for name in names
            if name in unavailable
        ]
        return Outcome(tuple(pairs), tuple(reasons), conversions.description_notices(pairs, reasons))

    async def _missing_acls(self, entries: Collection[Any]) -> tuple[Acl, ...]:
        """Return the missing ACL without which brokers omit groups from this list, if it is known to be missing."""
        client = self._client

        def start() -> Future[Any]:
            future: Future[Any] = client.describe_cluster(include_authorized_operations=True, request_timeout=UNBOUNDED)
            return future

        try:
            description = await self._reply(Scope.CLUSTER, self.name, "DescribeCluster", start)
        except RequestFailed:
            return ()
        return missing_acls(conversions.operations_of(description, entries))

    async def _list(self) -> tuple[dict[GroupId, Any], tuple[Failure, ...]]:
        """Return each group that librdkafka lists once, and the reasons why others may be missing.

        List again until all brokers have loaded their groups; when the time is up, return the groups so far, with
        failures.
        """
        api = "ListGroups"
        so_far: tuple[dict[GroupId, Any], tuple[Failure, ...]] = ({}, ())

        def start() -> Future[Any]:
            # With its own timeout, librdkafka returns the results of the other brokers; no coordinator is queried.
            listing: Future[Any] = self._client.list_consumer_groups(request_timeout=min(self._bound(), UNBOUNDED))
            return listing

        async def request() -> None:
            nonlocal so_far
            response = await self._reply(Scope.CLUSTER, self.name, api, start, grace=GRACE)
            errors = [getattr(error, "args", (error,))[0] for error in response.errors or ()]
            failures = [
                Failure(
                    Scope.CLUSTER,
                    self.name,
                    "a broker did not respond in time; its groups are missing",
                    api=api,
                    reason=Reason.NO_RESPONSE,
                )
                if error.code() in _NO_RESPONSE
                else conversions.failure_of(Scope.CLUSTER, self.name, api, error)
                for error in errors
            ]
            so_far = conversions.once_each(response.valid or ()), tuple(dict.fromkeys(failures))
            for failure in failures:
                if failure.code in RETRIABLE:
                    raise RequestFailed(failure)

        try:
            await with_retries(request, self._broker_deadline())
        except RequestFailed as error:
            return so_far[0], so_far[1] or (error.failure,)
        return so_far

    async def _coordinators(
        self, names: Iterable[GroupId], required: Iterable[GroupId]
    ) -> tuple[dict[GroupId, Group], dict[GroupId, Failure]]:
        """Describe the required groups, and as many others as necessary to know the coordinator of every group.

        If Kafka's rule holds for the described groups, it is assumed to hold for the others.
        """
        order = sorted(names)
        sample = {order[0], order[len(order) // 2], order[-1]} if order else set()
        found, failed = await self._each(sample.union(required), self._describe)
        if any(self._placement.coordinator(name) != group.coordinator for name, group in found.items()):
            self._placement = conversions.Placement()
        rest = [name for name in order if name not in found | failed and self._placement.coordinator(name) is None]
        more, more_failed = await self._each(rest, self._describe)
        return {**found, **more}, {**failed, **more_failed}

    async def _each(
        self, names: Iterable[GroupId], send: Callable[[GroupId], Awaitable[T]]
    ) -> tuple[dict[GroupId, T], dict[GroupId, Failure]]:
        def breaker_of(name: GroupId) -> CircuitBreaker:
            return self._breakers.setdefault(self._placement.coordinator(name), CircuitBreaker())

        return await send_each(names, send, breaker_of)

    async def _describe(self, name: GroupId) -> Group:
        client = self._client
        api = "DescribeGroups"
        description = await self._group_request(
            name, api, lambda: client.describe_consumer_groups([name], request_timeout=UNBOUNDED)[name]
        )
        group = conversions.group_of(description)
        if isinstance(group, Group):
            return group
        if group.code == Code.group_id_not_found:
            try:
                self._supported.check_missing_group()
            except UnsupportedVersion as error:
                raise RequestFailed(Failure.of(error, Scope.GROUP, name, api="ConsumerGroupDescribe")) from None
        raise RequestFailed(group.failure(Scope.GROUP, name, api=api))

    async def _commits(self, name: GroupId) -> GroupCommits:
        client, request = self._client, [ConsumerGroupTopicPartitions(name)]
        response = await self._group_request(
            name, "OffsetFetch", lambda: client.list_consumer_group_offsets(request, request_timeout=UNBOUNDED)[name]
        )
        commits = conversions.commits_of(name, response)
        if isinstance(commits, GroupCommits):
            return commits
        raise RequestFailed(commits)

    async def _group_request(self, name: GroupId, api: str, start: Start) -> Any:
        reason = conversions.why_not_sendable(name)
        if reason:
            raise RequestFailed(Failure(Scope.GROUP, name, reason, api=api, reason=Reason.NOT_APPLICABLE))
        return await with_retries(lambda: self._reply(Scope.GROUP, name, api, start), self._broker_deadline())

    # Logs.

    async def _logs(
        self, partitions: Mapping[str, Iterable[int]], isolation: Isolation, whole_topics: bool
    ) -> tuple[Logs, tuple[Failure, ...]]:
        """Return log start and log end offsets; each leader is queried separately: one that hangs delays no other."""
        collector = LogCollector(isolation=isolation)
        if isolation is Isolation.READ_COMMITTED:
            before = LogCollector((Where.END,))
            await self._collect(partitions, before, whole_topics)
        await self._collect(partitions, collector, whole_topics)
        if isolation is Isolation.READ_COMMITTED:
            collector.add_high(before)
        return collector.logs(), collector.distinct_failures()

    async def _collect(
        self, partitions: Mapping[str, Iterable[int]], collector: LogCollector, whole_topics: bool
    ) -> None:
        pending = {(topic, number) for topic, numbers in partitions.items() for number in numbers}
        for attempt in range(LEADER_ROUNDS):
            await asyncio.sleep(attempt * FIRST_PAUSE)
            topics = await self._leaders({topic for topic, _ in pending})
            found = {
                name: entry for name, entry in topics.items() if isinstance(entry, TopicLeaders) and not entry.error
            }
            collector.sizes.update({name: len(entry.leaders) for name, entry in found.items()})
            for name, entry in topics.items() if whole_topics and not attempt else ():
                pending.update((name, at) for at in (entry.leaders if isinstance(entry, TopicLeaders) else ()))
            leaders = conversions.by_leader(collector, pending, topics)
            jobs = [
                self._ends(collector, leader, pairs, where)
                for leader, pairs in leaders.items()
                for where in collector.positions
            ]
            await asyncio.gather(*jobs)
            pending = {pair for pair, failure in collector.failures.items() if may_heal(failure)}
            if not pending:
                break

    async def _leaders(self, topics: Iterable[str]) -> dict[str, TopicLeaders | Failure]:
        names = sorted(topics)
        if not names:
            return {}
        if self._unsupported(Scope.CLUSTER, self.name, "Metadata"):
            return {name: failure for name in names if (failure := self._unsupported(Scope.TOPIC, name, "Metadata"))}
        # One request for all topics; each has its own future.
        futures = self._client.describe_topics(TopicCollection(names), request_timeout=UNBOUNDED)

        async def leaders(topic: str) -> TopicLeaders | Failure:
            try:
                description = await self._reply(Scope.TOPIC, topic, "Metadata", partial(futures.__getitem__, topic))
            except RequestFailed as error:
                return error.failure
            return conversions.leaders_of(description)

        return dict(zip(names, await asyncio.gather(*map(leaders, names)), strict=True))

    async def _ends(
        self, collector: LogCollector, leader: int, pairs: list[TopicPartition], where: Where | int
    ) -> None:
        for pair in pairs:
            if unsupported := self._unsupported(Scope.PARTITION, partition_name(pair), "ListOffsets"):
                collector.failures[pair] = unsupported._replace(broker=leader)
        if self._unsupported(Scope.CLUSTER, self.name, "ListOffsets"):
            return
        spec = OffsetSpec.earliest() if where == Where.START else OffsetSpec.latest()  # type: ignore[no-untyped-call]  # its stub
        level = IsolationLevel(int(collector.isolation))
        request = {RdTopicPartition(*pair): spec for pair in pairs}
        futures = self._client.list_offsets(request, isolation_level=level, request_timeout=UNBOUNDED)

        async def find(pair: TopicPartition, future: Future[Any]) -> None:
            try:
                reply = await self._reply(Scope.PARTITION, partition_name(pair), "ListOffsets", lambda: future)
            except RequestFailed as error:
                found: int | Failure = error.failure._replace(broker=leader)
            else:
                found = conversions.log_offset_of(pair, reply)
            if isinstance(found, Failure):
                collector.failures[pair] = found
            else:
                collector.found.setdefault(where, {})[pair] = found

        await asyncio.gather(*(find((entry.topic, entry.partition), future) for entry, future in futures.items()))

    async def _authorizes(self) -> bool:
        """Return whether brokers may check ACLs: ``False`` only if one reports that it has no authorizer."""
        # DescribeAcls would show the same, but librdkafka returns an empty list instead of its error.
        node = next(filter(None, self._placement.leaders), None)
        if node is None:
            return True
        client, broker = self._client, ConfigResource(ConfigResource.Type.BROKER, str(node.id))

        def start() -> Future[Any]:
            future: Future[Any] = client.describe_configs([broker], request_timeout=UNBOUNDED)[broker]
            return future

        try:
            configs = await self._reply(Scope.CLUSTER, self.name, "DescribeConfigs", start)
        except RequestFailed:
            return True
        setting = configs.get("authorizer.class.name")
        return setting is None or setting.value != ""

    # One request.

    def _bound(self) -> float:
        return self._deadline.bound(self._settings.broker_timeout)

    def _broker_deadline(self) -> Deadline:
        return self._deadline.within(self._settings.broker_timeout)

    def _unsupported(self, scope: Scope, name: str, api: str) -> Failure | None:
        """Return why a request must not be handed to librdkafka, if so."""
        try:
            self._supported.check(api)
        except UnsupportedVersion as error:
            return Failure.of(error, scope, name, api=api)
        return None

    async def _reply(self, scope: Scope, name: str, api: str, start: Start, *, grace: float = 0.0) -> Any:
        """Return the response to the request that ``start`` sends, within the time limit for one broker.

        :param grace: seconds to wait in addition.
        :raises RequestFailed: for an error, or without a response in time.
        """
        if unsupported := self._unsupported(scope, name, api):
            raise RequestFailed(unsupported)
        silence = f"no response in time (--broker-timeout is {self._settings.broker_timeout:g} s)"
        try:
            async with asyncio.timeout(self._bound() + grace):
                return await asyncio.wrap_future(start())
        except TimeoutError:
            raise RequestFailed(
                Failure(scope, name, silence, api=api, reason=Reason.NO_RESPONSE), no_response=True
            ) from None
        except KgroupsError as error:
            raise RequestFailed(Failure.of(error, scope, name, api=api), no_response=True) from None
        except KafkaException as error:
            # Its frames refer to the client, and librdkafka's thread still holds it: if the client were freed there,
            # librdkafka would abort the process.
            error.__traceback__ = None
            cause: KafkaError = error.args[0]
            if cause.code() in _NO_RESPONSE:
                raise RequestFailed(
                    Failure(scope, name, silence, api=api, reason=Reason.NO_RESPONSE), no_response=True
                ) from None
            raise RequestFailed(conversions.failure_of(scope, name, api, cause)) from None
