"""The brokers of one cluster, and requests to them in the versions that each supports."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from kgroups.config.settings import ClientSettings
from kgroups.errors import (
    AuthenticationFailed,
    BrokerUnavailable,
    ClusterUnreachable,
    ConfigError,
    DeadlineExceeded,
    KgroupsError,
    MissingPackage,
    NotRequested,
    OutcomeUnknown,
    ProtocolError,
    Reason,
    RemoteProtocolError,
    UnsupportedVersion,
)
from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId
from kgroups.protocol.apis import metadata
from kgroups.protocol.call import Call
from kgroups.protocol.versions import Api, BrokerVersions

from .connection import Before, ConnectionLost, KeptWaiting, NeverSent, Observer, Overdue
from .connector import ReadyConnection, negotiate
from .deadline import Deadline
from .fanout import as_answered, staggered
from .pool import READS, REPLICAS, ConnectionPool
from .progress import Progress

if TYPE_CHECKING:
    from kgroups.model.permissions import HiddenTopics
    from kgroups.protocol.repeats import RepeatsByApi

T = TypeVar("T")

BOOTSTRAP_STAGGER = 0.25
"""Seconds to wait for one bootstrap server before the next is tried in parallel."""

BOOTSTRAP_SHARE = 0.25
"""The part of the time limit in which all bootstrap servers are tried; the last server can use the rest."""

PATIENCE = 1.0
"""Seconds without a response from a broker that waits for replicas after which a request that does not is sent, too."""

_TICKS = 4
"""Parts of :data:`PATIENCE`: while this process does not run, only one of them passes."""

_HOPELESS = (AuthenticationFailed, ConfigError, MissingPackage)
"""Errors that another bootstrap server does not fix. Retrying a wrong password may lock the account."""


class Rights:
    """The known rights of the principal, until :meth:`Cluster.renew`."""

    def __init__(self, operations: frozenset[str] | None = None) -> None:
        """:param operations: the authorized operations on the cluster; ``None`` if brokers do not report them."""
        self.operations = operations
        self.hidden: dict[frozenset[str], HiddenTopics] = {}
        """The topics among the selected ones, or among all, whose offsets brokers leave out."""
        self.checks_acls: bool | None = None
        """Whether brokers may check ACLs; ``None`` if they were not asked."""


class Cluster:
    """A connection to a cluster. An async context manager; :meth:`connect` creates one.

    A broker that cannot be reached, or does not respond within ``broker_timeout``, is marked as down and gets no
    further request.
    """

    def __init__(self, settings: ClientSettings, observer: Observer | None = None) -> None:
        self.settings = settings
        self.deadline = Deadline(settings.timeout)
        self.cluster_id: str | None = None
        self.nodes: Mapping[int, Node] = {}
        self.topics: dict[str, metadata.TopicLeaders] = {}
        """The topics requested when connecting, as last reported."""
        self.progress = Progress()
        self.rights = Rights()
        self.coordinators: dict[GroupId, Node] = {}
        """The coordinators that were looked up until :meth:`renew`; groups may have moved since."""
        self._pool = ConnectionPool(settings, self.deadline, observer)
        self._gates: dict[tuple[int, int], asyncio.Semaphore] = {}
        self.repeats: RepeatsByApi | None = None
        """The groups of the last responses: with it, repeated polls decode only what changed."""

    @classmethod
    async def connect(
        cls, settings: ClientSettings, *, topics: tuple[str, ...] = (), observer: Observer | None = None
    ) -> tuple[Cluster, metadata.ClusterMetadata]:
        """Connect, and return the cluster with its metadata, including ``topics`` and the authorized operations.

        The bootstrap servers are tried in parallel, staggered; the first response wins.

        :raises ClusterUnreachable: if none responds, with the error of each.
        :raises AuthenticationFailed: if one rejects the authentication: no other is tried.
        :raises ConfigError: if the settings for TLS or SASL are invalid.
        :raises UnsupportedMechanism: for a SASL mechanism that the wire client does not support.
        """
        cluster = cls(settings, observer)
        try:
            answer = await cluster._bootstrap(metadata.Metadata(topics, operations=True))
            cluster.topics = {entry.topic: entry for entry in answer.topics if entry.topic in topics}
            cluster.rights = Rights(answer.operations)
            return cluster, answer
        except BaseException:
            await cluster.close()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection, including connections that are being opened."""
        await self._pool.close()

    async def call(self, node: Node, call: Call[T]) -> T:
        """Send a request to a broker, in the newest version that both sides support.

        :raises BrokerUnavailable: if the broker cannot be reached or does not respond in time.
        :raises UnsupportedVersion: if no common version exists.
        :raises ProtocolError: if the response cannot be decoded.
        :raises DeadlineExceeded: if the time limit of the command expired.
        """
        if not call.api.waits:
            return await self._put(node, READS, lambda link: self._ask(link, call, (node.host, node.port)))
        with self._pool.free_lane(node.host, node.port, waits=True) as lane:
            return await self._put(node, lane, lambda link: self._ask_patiently(link, call, node))

    async def call_or(self, node: Node, call: Call[T], instead: Call[T]) -> T:
        """Send a request that waits for the replication of earlier writes; it does not delay other requests.

        Without a response in :data:`PATIENCE`, ``instead``, which does not wait, is sent as well, and the first
        response is returned. If it is that of ``instead``, only that is sent to this broker until :meth:`renew`.
        Raises what :meth:`call` raises.
        """
        address = (node.host, node.port)
        if self._pool.is_late(address):
            return await self.call(node, instead)
        alive = asyncio.get_running_loop().create_future()
        alive.set_result(True)  # the other request finds out whether the broker is down
        first = self._put(node, REPLICAS, lambda link: self._ask(link, call, address, alive))
        reason: KgroupsError | None = None
        answers = as_answered(((False, first), (True, self._call_late(node, instead))))
        async with aclosing(answers):
            async for late, answer in answers:
                if not isinstance(answer, KgroupsError):
                    if late:
                        self._pool.mark_late(address)
                    return answer
                if not late and not (isinstance(answer, KeptWaiting) and self.reachable(node)):
                    raise answer
                reason = answer if late else reason or answer
        assert reason
        raise reason

    def mark_late(self, node: Node) -> None:
        """Wait for the replicas of a broker no more: see :meth:`call_or`."""
        self._pool.mark_late((node.host, node.port))

    async def _call_late(self, node: Node, call: Call[T]) -> T:
        """Send a request when the broker has responded to nothing over :data:`REPLICAS` for :data:`PATIENCE`."""
        seconds = self.deadline.bound(self.settings.broker_timeout) / 2
        try:
            async with asyncio.timeout(seconds):
                await self._pool.to(node.host, node.port, str(node), REPLICAS)
        except TimeoutError:
            return await self.call(node, call)
        ticks, before = 0, None
        while ticks < _TICKS:
            await asyncio.sleep(min(PATIENCE, seconds) / _TICKS)
            connection = (await self._pool.to(node.host, node.port, str(node), REPLICAS)).connection
            throttled = connection.resumes > time.monotonic()
            since = None if throttled else connection.waits_since
            ticks = ticks + 1 if since is not None and since == before else 0
            before = since
        return await self.call(node, call)

    async def change(self, node: Node, call: Call[T], before: Before | None = None) -> T:
        """Send a request that changes something. Before it is sent, raises what :meth:`call` raises.

        :param before: is awaited right before the request is sent, also over a second connection.
        :raises OutcomeUnknown: if it was sent, and no readable response arrived.
        :raises UsageError: if the client is read-only.
        """
        self.settings.check_writable(call.api.name)
        with self._pool.free_lane(node.host, node.port, waits=call.api.waits) as lane:
            return await self._put(node, lane, lambda link: self._sent(link, call, node, before))

    async def versions(self, node: Node) -> BrokerVersions:
        """Return the API versions of a broker. Raises what :meth:`call` raises."""
        return (await self._pool.to(node.host, node.port, str(node))).versions

    async def speaks(self, node: Node, api: Api, version: int = 0) -> bool:
        """Return whether a broker and kgroups share a version of an API that is at least ``version``."""
        return (await self.versions(node)).speaks(api, version)

    async def call_any(self, call: Call[T], *, needs: int = 0) -> T:
        """Send a request to any broker that can respond, in at least version ``needs``.

        :raises KgroupsError: the last broker's error, if none can.
        """
        reason: KgroupsError | None = None
        for node in self.nodes_by_health():
            try:
                if needs and not await self.speaks(node, call.api, needs):
                    reason = UnsupportedVersion(f"{call.api} v{needs} is not supported", peer=str(node))
                    continue
                return await self.call(node, call)
            except (BrokerUnavailable, UnsupportedVersion, ProtocolError) as error:
                reason = error
        raise reason or ClusterUnreachable("the cluster has no brokers", reason=Reason.NO_BROKERS)

    def gate(self, node: Node, api: Api, most: int) -> asyncio.Semaphore:
        """Return the semaphore that limits the requests of one API in flight to a broker, for the whole command."""
        return self._gates.setdefault((node.id, api.key), asyncio.Semaphore(most))

    def reachable(self, node: Node) -> bool:
        """Return whether a broker is not marked as down."""
        return not self._pool.is_down((node.host, node.port))

    def nodes_by_health(self) -> list[Node]:
        """Return all brokers, in this order: have responded, not tried yet, down."""

        def rank(node: Node) -> tuple[int, int]:
            address = (node.host, node.port)
            if self._pool.is_down(address):
                return (2, node.id)
            ready = self._pool.tried(address) and not self._pool.silent(address)
            return (0 if ready else 1, node.id)

        return sorted(self.nodes.values(), key=rank)

    async def refresh(self, topics: Iterable[str] = ()) -> metadata.ClusterMetadata:
        """Fetch the brokers again, and the leaders of some topics. Raises what :meth:`call_any` raises."""
        answer = await self.call_any(metadata.Metadata(tuple(topics)))
        self._learn(answer)
        self.topics.update({entry.topic: entry for entry in answer.topics if entry.topic in self.topics})
        return answer

    def extend(self, seconds: float) -> None:
        """Do not count a time in which nothing was read from the brokers."""
        self.deadline.extend(seconds)
        self._pool.extend(seconds)

    async def renew(self) -> metadata.ClusterMetadata:
        """Begin another command over the open connections: restart the deadline, and contact every broker again.

        Return new metadata of the brokers and of the topics that were requested when connecting. Raises as
        :meth:`call_any`.
        """
        self.deadline.restart()
        self._pool.forgive()
        if self.repeats is not None:
            self.repeats.turn()
        topics = tuple(self.topics)
        answer = await self.call_any(metadata.Metadata(topics, operations=True))
        self._learn(answer)
        self.topics = {entry.topic: entry for entry in answer.topics if entry.topic in topics}
        self.rights = Rights(answer.operations)
        self.coordinators.clear()
        return answer

    # Connections, and how they begin.

    def _learn(self, answer: metadata.ClusterMetadata) -> None:
        self.cluster_id = answer.cluster_id
        self.nodes = {node.id: node for node in answer.nodes}
        for node in answer.nodes:
            self._pool.rename((node.host, node.port), str(node))

    async def _bootstrap(self, call: metadata.Metadata) -> metadata.ClusterMetadata:
        servers = self.settings.bootstrap
        pause = min(BOOTSTRAP_STAGGER, BOOTSTRAP_SHARE * self.deadline.remaining() / len(servers))
        errors: list[KgroupsError] = []
        tries = staggered(((server, partial(self._try, server, call)) for server in servers), pause)
        async with aclosing(tries):
            async for _, answer in tries:
                if not isinstance(answer, KgroupsError):
                    self._learn(answer)
                    return answer
                if isinstance(answer, _HOPELESS):
                    raise answer
                errors.append(answer)
        raise _unreachable(errors)

    async def _try(self, server: tuple[str, int], call: metadata.Metadata) -> metadata.ClusterMetadata:
        host, port = server
        link = await self._pool.to(host, port, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        try:
            answer = await self._ask(link, call, server)
        except ConnectionLost as error:
            raise self._pool.with_authentication_hint(error) from None
        if not answer.nodes:
            text = "responded, but does not know any brokers yet"
            raise BrokerUnavailable(text, peer=link.connection.name, reason=Reason.NO_BROKERS)
        return answer

    async def _put(self, node: Node, number: int, send: Callable[[ReadyConnection], Awaitable[T]]) -> T:
        """Send on a connection to a broker; on a new one if that was lost before the request was sent."""
        try:
            return await send(await self._pool.to(node.host, node.port, str(node), number))
        except NeverSent:
            return await send(await self._pool.to(node.host, node.port, str(node), number))

    async def _ask(
        self,
        link: ReadyConnection,
        call: Call[T],
        address: tuple[str, int],
        alive: asyncio.Future[bool] | None = None,
        before: Before | None = None,
    ) -> T:
        """Send a request, and return its response.

        :param alive: whether the broker responds to another request meanwhile: without it, no response means down.
        """
        try:
            version = link.versions.pick(call.api)
        except UnsupportedVersion as error:
            error.at(link.connection.name)
            raise
        try:
            timeout = self.deadline.bound(self.settings.broker_timeout)
            return await link.connection.call(call, version, timeout, deadline=self.deadline, before=before)
        except ConnectionLost:
            raise
        except BrokerUnavailable as error:
            if alive and isinstance(error, Overdue):
                link.connection.close()  # what is sent on it would wait, too
                if alive.done() and alive.result():
                    raise self._pool.kept_waiting(error) from None
            raise self._pool.mark_down(address, error) from None

    async def _ask_patiently(self, link: ReadyConnection, call: Call[T], node: Node, before: Before | None = None) -> T:
        """Send a request that may wait for other brokers; without a response, the broker may still be healthy."""
        timeout = self.deadline.bound(self.settings.broker_timeout)
        alive = asyncio.ensure_future(self._responds(node, timeout / 2))
        try:
            return await self._ask(link, call, (node.host, node.port), alive, before)
        finally:
            alive.cancel()

    async def _responds(self, node: Node, seconds: float) -> bool:
        """Return whether a broker responds to a request sent in ``seconds``, within as many."""
        await asyncio.sleep(seconds)
        try:
            link = await self._pool.to(node.host, node.port, str(node))
            await negotiate(link.connection, Deadline(seconds))
        except KgroupsError:
            return False
        return True

    async def _sent(self, link: ReadyConnection, call: Call[T], node: Node, before: Before | None) -> T:
        """Return the response to a change; without one, the outcome is unknown."""
        self.deadline.bound(self.settings.broker_timeout)
        try:
            return await self._ask_patiently(link, call, node, before)
        except (NeverSent, NotRequested):
            raise
        except (BrokerUnavailable, KeptWaiting, DeadlineExceeded, RemoteProtocolError) as error:
            raise OutcomeUnknown(f"the change was sent, but its outcome is unknown: {error}") from error


def _unreachable(errors: Sequence[KgroupsError]) -> ClusterUnreachable:
    """Merge the errors of all bootstrap servers; a reason that all share is kept."""
    text = "no bootstrap server responded: " + "; ".join(sorted(map(str, errors)))
    reasons = {error.reason for error in errors}
    hints = sorted({error.hint for error in errors if error.hint})
    return ClusterUnreachable(text, reason=reasons.pop() if len(reasons) == 1 else None, hint="; ".join(hints) or None)
