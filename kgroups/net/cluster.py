"""All brokers of one cluster: connected when first asked, each with the versions that it speaks."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from kgroups.config.settings import ClientSettings
from kgroups.errors import (
    BrokerUnavailable,
    ClusterUnreachable,
    DeadlineExceeded,
    KgroupsError,
    OutcomeUnknown,
    ProtocolError,
    RemoteProtocolError,
    UnsupportedVersion,
)
from kgroups.model.cluster import Node
from kgroups.protocol.apis import api_versions, metadata
from kgroups.protocol.call import Call
from kgroups.protocol.framing import decode_response
from kgroups.protocol.versions import Api, BrokerVersions

from .connection import Connection, ConnectionLost, Observer
from .deadline import Deadline
from .progress import Progress

T = TypeVar("T")

BOOTSTRAP_STAGGER = 0.25
"""Seconds before the next bootstrap server is tried beside one that has not answered yet."""


LANES = 4
"""Connections to one broker for changes: it takes up the next request of a connection when the one before is answered,
and answers when enough replicas have it. Measured on one machine, whose cores are the limit: a quarter less time with
three replicas, none with one; the further away the replicas, the more."""

Lane = tuple[str, int, int]
"""Host, port, and which of the connections to it; all that is only asked goes by the first."""


class Link(NamedTuple):
    """A connection whose broker has told what it speaks."""

    connection: Connection
    versions: BrokerVersions


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
        self.progress = Progress()
        self._observer = observer
        self._links: dict[Lane, asyncio.Task[Link]] = {}
        self._changing: Counter[Lane] = Counter()
        self._condemned: dict[tuple[str, int], BrokerUnavailable] = {}

    @classmethod
    async def connect(
        cls, settings: ClientSettings, *, topics: tuple[str, ...] = (), observer: Observer | None = None
    ) -> tuple[Cluster, metadata.ClusterMetadata]:
        """A cluster whose brokers are known, and the metadata that told of them, of ``topics`` too.

        The bootstrap servers are tried one beside the other; the first that answers is taken.

        :raises ClusterUnreachable: when none does, with each one's reason.
        """
        cluster = cls(settings, observer)
        try:
            return cluster, await cluster._bootstrap(metadata.Metadata(topics))
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
        links, self._links = list(self._links.values()), {}
        for task in links:
            task.cancel()
        for result in await asyncio.gather(*links, return_exceptions=True):
            if isinstance(result, Link):
                result.connection.close()
        await asyncio.sleep(0)  # lets the transports run their last callbacks while the loop is there

    async def call(self, node: Node, call: Call[T]) -> T:
        """Puts a call to a broker, in the newest version that both sides speak.

        :raises BrokerUnavailable: when the broker cannot be reached or does not answer in time.
        :raises UnsupportedVersion: when no common version exists.
        :raises ProtocolError: when the answer cannot be read.
        :raises DeadlineExceeded: when the command's time is used up.
        """
        link = await self._link(node.host, node.port, str(node))
        return await self._ask(link, call, (node.host, node.port))

    async def change(self, node: Node, call: Call[T]) -> T:
        """Puts a call that changes something to a broker. Raises as :meth:`call` does, as long as nothing was sent.

        :raises OutcomeUnknown: when it was sent, and no answer came that could be read.
        """
        lane = min(((node.host, node.port, number) for number in range(LANES)), key=self._changing.__getitem__)
        self._changing[lane] += 1
        try:
            link = await self._link(node.host, node.port, str(node), lane[2])
            self.deadline.bound(self.settings.broker_timeout)
            return await self._sent(link, call, (node.host, node.port))
        finally:
            self._changing[lane] -= 1

    async def versions(self, node: Node) -> BrokerVersions:
        """What a broker speaks. Raises as :meth:`call` does."""
        return (await self._link(node.host, node.port, str(node))).versions

    async def speaks(self, node: Node, api: Api, version: int = 0) -> bool:
        """Whether a broker and we share a version of an API that is at least ``version``."""
        return (await self.versions(node)).speaks(api, version)

    async def call_any(self, call: Call[T], *, needs: int = 0) -> T:
        """Puts a call to whichever broker can answer, with at least version ``needs`` if one speaks it.

        :raises KgroupsError: the last broker's, when none can.
        """
        reason: KgroupsError | None = None
        for node in self.by_readiness():
            try:
                if needs and not await self.speaks(node, call.api, needs):
                    reason = UnsupportedVersion(f"{node}: {call.api} v{needs} is not spoken")
                    continue
                return await self.call(node, call)
            except (BrokerUnavailable, UnsupportedVersion, ProtocolError) as error:
                reason = error
        raise reason or ClusterUnreachable("the cluster has no brokers")

    def reachable(self, node: Node) -> bool:
        """Whether a broker has not failed to connect or to answer yet."""
        return (node.host, node.port) not in self._condemned

    def by_readiness(self) -> list[Node]:
        """All brokers, those that have answered first, and those that failed last."""

        def rank(node: Node) -> tuple[int, int]:
            address = (node.host, node.port)
            task = self._links.get((*address, 0))
            if address in self._condemned:
                return (2, node.id)
            return (0 if task and task.done() else 1, node.id)

        return sorted(self.nodes.values(), key=rank)

    async def refresh(self, topics: Iterable[str] = ()) -> metadata.ClusterMetadata:
        """The brokers as they are now, and who leads the partitions of some topics. Raises as :meth:`call_any`."""
        answer = await self.call_any(metadata.Metadata(tuple(topics)))
        self._learn(answer)
        return answer

    # Below: connections and their beginnings.

    def _learn(self, answer: metadata.ClusterMetadata) -> None:
        self.cluster_id = answer.cluster_id
        self.nodes = {node.id: node for node in answer.nodes}
        for node in answer.nodes:
            task = self._links.get((node.host, node.port, 0))
            if task and task.done() and not task.cancelled() and not task.exception():
                task.result().connection.name = str(node)  # until now it was only an address

    async def _bootstrap(self, call: metadata.Metadata) -> metadata.ClusterMetadata:
        servers = self.settings.bootstrap
        tries = {asyncio.ensure_future(self._try(at, server, call)) for at, server in enumerate(servers)}
        reasons: list[str] = []
        pending = tries
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task, error in [(task, task.exception()) for task in done]:  # all looked at, or asyncio complains
                    if error is None:
                        self._learn(task.result())
                        return task.result()
                    if not isinstance(error, KgroupsError):
                        raise error
                    reasons.append(str(error))
        finally:
            for task in pending:
                task.cancel()
        raise ClusterUnreachable("no bootstrap server answered: " + "; ".join(sorted(reasons)))

    async def _try(self, at: int, server: tuple[str, int], call: metadata.Metadata) -> metadata.ClusterMetadata:
        await asyncio.sleep(at * BOOTSTRAP_STAGGER)
        host, port = server
        link = await self._link(host, port, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        answer = await self._ask(link, call, server)
        if not answer.nodes:
            raise BrokerUnavailable(f"{link.connection.name}: answers, but knows of no brokers yet")
        return answer

    async def _ask(self, link: Link, call: Call[T], address: tuple[str, int]) -> T:
        try:
            version = link.versions.pick(call.api)
        except UnsupportedVersion as error:
            raise UnsupportedVersion(f"{link.connection.name}: {error}") from None
        try:
            timeout = self.deadline.bound(self.settings.broker_timeout)
            return await link.connection.call(call, version, timeout)
        except ConnectionLost:
            raise
        except BrokerUnavailable as error:
            raise self._condemn(address, error) from None

    async def _sent(self, link: Link, call: Call[T], address: tuple[str, int]) -> T:
        """The answer to a change, after which nobody has to wonder."""
        try:
            return await self._ask(link, call, address)
        except (BrokerUnavailable, DeadlineExceeded, RemoteProtocolError) as error:
            raise OutcomeUnknown(f"it is not known whether it is done: {error}") from error

    async def _link(self, host: str, port: int, name: str, number: int = 0) -> Link:
        address, lane = (host, port), (host, port, number)
        if address in self._condemned:
            raise self._condemned[address]
        task = self._links.get(lane)
        if task and task.done() and not (task.exception() is None and task.result().connection.usable):
            task = None
        if task is None:
            task = self._links[lane] = asyncio.ensure_future(self._open(host, port, name))
        try:
            # Shielded: one caller that gives up must not break the connection that others wait for.
            return await asyncio.shield(task)
        except ConnectionLost:
            raise
        except BrokerUnavailable as error:
            raise self._condemn(address, error) from None

    def _condemn(self, address: tuple[str, int], error: BrokerUnavailable) -> KgroupsError:
        if not self.deadline.remaining():
            return DeadlineExceeded(f"{error} (--timeout is {self.deadline.seconds:g} s)")
        return self._condemned.setdefault(address, error)

    async def _open(self, host: str, port: int, name: str) -> Link:
        allowed = Deadline(self.deadline.bound(self.settings.broker_timeout))
        connection = await Connection.open(
            host,
            port,
            name=name,
            client_id=self.settings.client_id,
            timeout=allowed.remaining(),
            observer=self._observer,
        )
        try:
            return Link(connection, await _negotiate(connection, allowed))
        except BaseException:
            connection.close()
            raise


async def _negotiate(connection: Connection, allowed: Deadline) -> BrokerVersions:
    """Asks what the broker speaks: in our newest version first, in v0 when the broker says that it is too new."""
    call = api_versions.ApiVersions()
    frame = await connection.exchange(call, api_versions.API.newest, allowed.remaining())
    if frame[4:6] == api_versions.UNSUPPORTED:
        return await connection.call(call, 0, allowed.remaining())
    try:
        return decode_response(call, api_versions.API.newest, frame)
    except ProtocolError as error:
        raise type(error)(f"{connection.name}: does not answer as a Kafka broker: {error}") from error
