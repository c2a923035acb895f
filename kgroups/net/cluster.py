"""All brokers of one cluster: who they are, and what is put to them, each in the versions that it speaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeVar

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
from kgroups.protocol.apis import metadata
from kgroups.protocol.call import Call
from kgroups.protocol.versions import Api, BrokerVersions

from .connection import ConnectionLost, NeverSent, Observer
from .connector import ReadyConnection
from .deadline import Deadline
from .pool import ConnectionPool
from .progress import Progress

T = TypeVar("T")

BOOTSTRAP_STAGGER = 0.25
"""Seconds before the next bootstrap server is tried beside one that has not answered yet."""

_HOPELESS = (AuthenticationFailed, ConfigError, MissingPackage)
"""What another bootstrap server would not make better; a wrong password, worse."""


class Cluster:
    """The door to a cluster. An async context manager; :meth:`connect` makes one.

    A broker that cannot be reached, or does not answer in ``broker_timeout``, is not asked again: it has cost what
    one broker may cost.
    """

    def __init__(self, settings: ClientSettings, observer: Observer | None = None) -> None:
        self.settings = settings
        self.deadline = Deadline(settings.timeout)
        self.cluster_id: str | None = None
        self.nodes: Mapping[int, Node] = {}
        self.topics: dict[str, metadata.TopicLeaders] = {}
        """Those that were asked about when connecting, as last reported."""
        self.progress = Progress()
        self._pool = ConnectionPool(settings, self.deadline, observer)
        self._gates: dict[tuple[int, int], asyncio.Semaphore] = {}

    @classmethod
    async def connect(
        cls, settings: ClientSettings, *, topics: tuple[str, ...] = (), observer: Observer | None = None
    ) -> tuple[Cluster, metadata.ClusterMetadata]:
        """A cluster whose brokers are known, and the metadata that told of them, of ``topics`` and our rights too.

        The bootstrap servers are tried one beside the other; the first that answers is taken.

        :raises ClusterUnreachable: when none does, with each one's reason.
        :raises AuthenticationFailed: when one refuses our sign-in: no other is tried.
        :raises ConfigError: when the settings for TLS or the sign-in cannot be.
        :raises UnsupportedMechanism: for a SASL mechanism that is none of ours.
        """
        cluster = cls(settings, observer)
        try:
            answer = await cluster._bootstrap(metadata.Metadata(topics, operations=True))
            cluster.topics = {entry.topic: entry for entry in answer.topics if entry.topic in topics}
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
        """Closes every connection, also those that are still being made."""
        await self._pool.close()

    async def call(self, node: Node, call: Call[T]) -> T:
        """Puts a call to a broker, in the newest version that both sides speak.

        :raises BrokerUnavailable: when the broker cannot be reached or does not answer in time.
        :raises UnsupportedVersion: when no common version exists.
        :raises ProtocolError: when the answer cannot be read.
        :raises DeadlineExceeded: when the command's time is used up.
        """
        return await self._put(node, 0, lambda link: self._ask(link, call, (node.host, node.port)))

    async def change(self, node: Node, call: Call[T]) -> T:
        """Puts a call that changes something to a broker. Raises as :meth:`call` does, as long as nothing was sent.

        :raises OutcomeUnknown: when it was sent, and no answer came that could be read.
        """
        with self._pool.free_lane(node.host, node.port) as lane:
            return await self._put(node, lane, lambda link: self._sent(link, call, (node.host, node.port)))

    async def versions(self, node: Node) -> BrokerVersions:
        """What a broker speaks. Raises as :meth:`call` does."""
        return (await self._pool.to(node.host, node.port, str(node))).versions

    async def speaks(self, node: Node, api: Api, version: int = 0) -> bool:
        """Whether a broker and we share a version of an API that is at least ``version``."""
        return (await self.versions(node)).speaks(api, version)

    async def call_any(self, call: Call[T], *, needs: int = 0) -> T:
        """Puts a call to whichever broker can answer, with at least version ``needs`` if one speaks it.

        :raises KgroupsError: the last broker's, when none can.
        """
        reason: KgroupsError | None = None
        for node in self.nodes_by_health():
            try:
                if needs and not await self.speaks(node, call.api, needs):
                    reason = UnsupportedVersion(f"{call.api} v{needs} is not spoken", peer=str(node))
                    continue
                return await self.call(node, call)
            except (BrokerUnavailable, UnsupportedVersion, ProtocolError) as error:
                reason = error
        raise reason or ClusterUnreachable("the cluster has no brokers", reason=Reason.NO_BROKERS)

    def gate(self, node: Node, api: Api, most: int) -> asyncio.Semaphore:
        """The limit of requests of one API that are under way to a broker, for all parts of a command together."""
        return self._gates.setdefault((node.id, api.key), asyncio.Semaphore(most))

    def reachable(self, node: Node) -> bool:
        """Whether a broker has not failed to connect or to answer yet."""
        return not self._pool.is_down((node.host, node.port))

    def nodes_by_health(self) -> list[Node]:
        """All brokers: first those that have answered, then those that have not yet, and those that failed last."""

        def rank(node: Node) -> tuple[int, int]:
            address = (node.host, node.port)
            if self._pool.is_down(address):
                return (2, node.id)
            ready = self._pool.tried(address) and not self._pool.silent(address)
            return (0 if ready else 1, node.id)

        return sorted(self.nodes.values(), key=rank)

    async def refresh(self, topics: Iterable[str] = ()) -> metadata.ClusterMetadata:
        """The brokers as they are now, and who leads the partitions of some topics. Raises as :meth:`call_any`."""
        answer = await self.call_any(metadata.Metadata(tuple(topics)))
        self._learn(answer)
        self.topics.update({entry.topic: entry for entry in answer.topics if entry.topic in self.topics})
        return answer

    async def renew(self) -> metadata.ClusterMetadata:
        """Begin another command over the open connections: restart the deadline, and contact every broker again.

        Return new metadata of the brokers and of the topics that were requested when connecting. Raises as
        :meth:`call_any`.
        """
        self.deadline.restart()
        self._pool.forgive()
        topics = tuple(self.topics)
        answer = await self.call_any(metadata.Metadata(topics, operations=True))
        self._learn(answer)
        self.topics = {entry.topic: entry for entry in answer.topics if entry.topic in topics}
        return answer

    # Below: connections and their beginnings.

    def _learn(self, answer: metadata.ClusterMetadata) -> None:
        self.cluster_id = answer.cluster_id
        self.nodes = {node.id: node for node in answer.nodes}
        for node in answer.nodes:
            self._pool.rename((node.host, node.port), str(node))

    async def _bootstrap(self, call: metadata.Metadata) -> metadata.ClusterMetadata:
        servers = self.settings.bootstrap
        tries = {asyncio.ensure_future(self._try(at, server, call)) for at, server in enumerate(servers)}
        errors: list[KgroupsError] = []
        pending = tries
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task, error in [(task, task.exception()) for task in done]:  # all looked at, or asyncio complains
                    if error is None:
                        self._learn(task.result())
                        return task.result()
                    if not isinstance(error, KgroupsError) or isinstance(error, _HOPELESS):
                        raise error
                    errors.append(error)
        finally:
            for task in pending:
                task.cancel()
        raise _unreachable(errors)

    async def _try(self, at: int, server: tuple[str, int], call: metadata.Metadata) -> metadata.ClusterMetadata:
        await asyncio.sleep(at * BOOTSTRAP_STAGGER)
        host, port = server
        link = await self._pool.to(host, port, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        try:
            answer = await self._ask(link, call, server)
        except ConnectionLost as error:
            raise self._pool.with_authentication_hint(error) from None
        if not answer.nodes:
            text = "answers, but knows of no brokers yet"
            raise BrokerUnavailable(text, peer=link.connection.name, reason=Reason.NO_BROKERS)
        return answer

    async def _put(self, node: Node, number: int, send: Callable[[ReadyConnection], Awaitable[T]]) -> T:
        """By one of the connections to a broker; by a new one where that was lost while we waited for our turn."""
        try:
            return await send(await self._pool.to(node.host, node.port, str(node), number))
        except NeverSent:
            return await send(await self._pool.to(node.host, node.port, str(node), number))

    async def _ask(self, link: ReadyConnection, call: Call[T], address: tuple[str, int]) -> T:
        try:
            version = link.versions.pick(call.api)
        except UnsupportedVersion as error:
            error.at(link.connection.name)
            raise
        try:
            timeout = self.deadline.bound(self.settings.broker_timeout)
            return await link.connection.call(call, version, timeout, deadline=self.deadline)
        except ConnectionLost:
            raise
        except BrokerUnavailable as error:
            raise self._pool.mark_down(address, error) from None

    async def _sent(self, link: ReadyConnection, call: Call[T], address: tuple[str, int]) -> T:
        """The answer to a change, after which nobody has to wonder."""
        self.deadline.bound(self.settings.broker_timeout)
        try:
            return await self._ask(link, call, address)
        except (NeverSent, NotRequested):
            raise
        except (BrokerUnavailable, DeadlineExceeded, RemoteProtocolError) as error:
            raise OutcomeUnknown(f"it is not known whether it is done: {error}") from error


def _unreachable(errors: Sequence[KgroupsError]) -> ClusterUnreachable:
    """What all bootstrap servers failed with, as one error; its reason is theirs where that is the same."""
    text = "no bootstrap server answered: " + "; ".join(sorted(map(str, errors)))
    reasons = {error.reason for error in errors}
    hints = sorted({error.hint for error in errors if error.hint})
    return ClusterUnreachable(text, reason=reasons.pop() if len(reasons) == 1 else None, hint="; ".join(hints) or None)
