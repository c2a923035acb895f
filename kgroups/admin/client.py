"""The interface of a connected cluster, with two implementations: :mod:`.wire` and :mod:`.rdkafka`.

Both implement :class:`Client`, which only reads. Everything else takes the wire client's :class:`Cluster`:
:func:`wire_of`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from enum import Enum
from typing import Protocol, TypeVar

from kgroups.config.settings import ClientSettings, Transport
from kgroups.errors import UsageError
from kgroups.model.groups import Group, ListedGroup
from kgroups.model.offsets import Isolation
from kgroups.model.outcome import Outcome
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import TopicLeaders

from .query.select_groups import Selection

__all__ = ["Client", "Cluster", "WireOnly", "changing", "wire_of"]

T = TypeVar("T")


class Client(Protocol):
    """The queries that both transports support. All outcomes are sorted by group, and contain the failures."""

    @property
    def cluster(self) -> Cluster | None:
        """The cluster of the wire client; ``None`` over librdkafka."""

    @property
    def cluster_id(self) -> str | None: ...

    @property
    def name(self) -> str:
        """The cluster ID, or the bootstrap servers if it is unknown."""

    async def list_selected(self, selection: Selection) -> Outcome[ListedGroup]:
        """Return the selected groups of the list; a named group that is not in it is a failure."""

    async def describe(self, selection: Selection) -> Outcome[Group]: ...

    async def describe_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> Outcome[GroupOffsets]: ...

    def stream_offsets(
        self, selection: Selection, *, isolation: Isolation, whole_topics: bool = False
    ) -> AsyncGenerator[Outcome[GroupOffsets]]:
        """Yield what :meth:`describe_offsets` returns in batches, sorted by group within and across them.

        Failures and notices that concern no group come last.
        """
        ...

    async def topics(self, names: Sequence[str]) -> dict[str, TopicLeaders]:
        """Return these topics, each with its partitions or its error.

        :raises KgroupsError: if no broker responds.
        """

    async def close(self) -> None: ...


class WireOnly(Enum):
    """What only the wire client supports, and the reason why librdkafka does not."""

    CHANGES = "kgroups only reads over librdkafka; to change groups, use --transport wire"
    SNAPSHOTS = "snapshots and kgroups diff require the wire client"
    HEADROOM = "headroom requires the wire client"
    RECORD_COUNTS = "counting records requires the wire client"
    SETTINGS = "settings of groups require the wire client"
    EXPLAIN = "explain requires the wire client"
    TRANSLATION = "comparing records of two clusters requires the wire client"
    SHARE_STATES = "the state of share groups requires the wire client"
    POSITIONS = "positions outside Kafka require the wire client"
    WAVES = "waves require the wire client"
    MIGRATION = "--migration requires the wire client"

    @property
    def refusal(self) -> UsageError:
        return UsageError(f"--transport librdkafka: {self.value}")

    def check(self, settings: ClientSettings) -> None:
        """Check the requested transport, before anything is sent.

        :raises UsageError: if it is librdkafka.
        """
        if settings.transport is Transport.LIBRDKAFKA:
            raise self.refusal


def wire_of(admin: Client, why: WireOnly) -> Cluster:
    """Return the cluster of the wire client.

    :raises UsageError: over librdkafka.
    """
    if admin.cluster is None:
        raise why.refusal
    return admin.cluster


def changing(query: Callable[[Cluster], Awaitable[T]]) -> Callable[[Client], Awaitable[T]]:
    """Return the query for any admin; it raises a usage error if the admin only reads."""

    async def run(admin: Client) -> T:
        return await query(wire_of(admin, WireOnly.CHANGES))

    return run
