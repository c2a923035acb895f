"""The log of offsets, or another topic: its partitions, and its offsets, requested for all partitions at once."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from kgroups.admin.query.first_unread import find_unread
from kgroups.admin.query.log_offsets import fetch_ends, fetch_ends_at, fetch_logs
from kgroups.admin.wire import WireClient
from kgroups.config.settings import ClientSettings
from kgroups.errors import AuthenticationFailed, BrokerUnavailable, ClusterUnreachable, KgroupsError
from kgroups.model.offsets import Isolation
from kgroups.model.operations.origin import topic_id_text
from kgroups.model.outcome import Failure
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.model.time_lag import Position
from kgroups.protocol.apis.metadata import TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError

from ..extract.errors import no_leader, no_topic, not_allowed
from ..extract.ranges import Ends
from .wire_session import WireSession

_PAUSE = 0.5
"""Seconds until a request that failed is repeated."""

T = TypeVar("T")


class OffsetsLog:
    """The topic of one cluster.

    A request that fails is repeated, because brokers may restart and leaders may move; but not if no bootstrap server
    has ever responded.

    Methods raise:

    - :class:`HistoryError` if the topic does not exist, or an ACL is missing, which the message names;
    - :class:`ClusterUnreachable` if no broker responds;
    - :class:`BrokerUnavailable` for any other error.
    """

    def __init__(self, session: WireSession, topic: str = OFFSETS_TOPIC, patience: float | None = None) -> None:
        """Send nothing yet.

        :param patience: seconds in which a failed request is repeated; default: ``timeout`` of the settings.
        """
        self._session = session
        self._topic = topic
        self._patience = session.settings.timeout if patience is None else patience
        self._responded = False
        self.topic_id: str | None = None
        """ID of the topic, after the first request; ``None`` if the brokers do not report it."""

    def partitions(self) -> list[int]:
        """Return the partitions, in ascending order."""
        return self._patiently(self._partitions)

    def ends(self) -> dict[int, Ends]:
        """Return the start offset, last stable offset, and end offset of each partition."""

        async def query(admin: WireClient) -> dict[int, Ends]:
            partitions = await self._partitions(admin)
            requested = {self._topic: partitions}
            logs, failed = await fetch_logs(admin.cluster, requested)
            self._check(failed, partitions)
            # The last stable offset afterwards: below this end, it shows an open transaction, and not only new commits.
            stable, failures = await fetch_ends(admin.cluster, requested, Isolation.READ_COMMITTED)
            self._check(failures.values(), partitions)
            ends = {}
            for each in partitions:
                log = logs.offsets[self._topic][each]
                assert log.start is not None and log.end is not None  # there are no failures
                ends[each] = Ends(log.start, min(stable[self._topic, each], log.end), log.end)
            return ends

        return self._patiently(query)

    def at(self, milliseconds: int, ends: Mapping[int, Ends]) -> dict[int, int]:
        """Return the offset of the first record at or after a time, in milliseconds since 1970, by partition.

        For a partition without such a record, its last stable offset.
        """

        async def query(admin: WireClient) -> dict[int, int]:
            _, found, failures = await fetch_ends_at(admin.cluster, {self._topic: ends}, milliseconds)
            self._check(failures, ends)
            offsets = {partition: found[self._topic, partition] for partition in ends}
            return {each: ends[each].stable if offset is None else offset for each, offset in offsets.items()}

        return self._patiently(query)

    def first_unread_times(self, ends: Mapping[int, Ends]) -> dict[int, int]:
        """Return the log time, in milliseconds since 1970, of the first record that an open transaction hides.

        It is read without regard to transactions (``read_uncommitted``): its time is known, whether it is committed or
        not. Partitions without such a record, or whose leader does not respond, are omitted; nothing is raised.
        """
        positions = [
            Position(self._topic, partition, each.stable) for partition, each in ends.items() if each.end > each.stable
        ]
        if not positions:
            return {}

        async def query(admin: WireClient) -> dict[int, int]:
            found, _ = await find_unread(admin.cluster, positions)
            return {at.partition: each.timestamp for at, each in found.items() if each.timestamp is not None}

        try:
            return self._session.ask(query)
        except KgroupsError:
            return {}

    async def _partitions(self, admin: WireClient) -> list[int]:
        (found,) = (await admin.cluster.refresh((self._topic,))).topics
        self._check_topic(found)
        self.topic_id = topic_id_text(found.topic_id) if found.topic_id else None
        return sorted(found.leaders)

    def _patiently(self, query: Callable[[WireClient], Awaitable[T]]) -> T:
        until = time.monotonic() + self._patience
        while True:
            try:
                result = self._session.ask(query)
            except (BrokerUnavailable, ClusterUnreachable) as error:
                is_final = isinstance(error, AuthenticationFailed) or (
                    isinstance(error, ClusterUnreachable) and not self._responded
                )
                if is_final or time.monotonic() >= until:
                    raise
                time.sleep(_PAUSE)
            else:
                self._responded = True
                return result

    def _check_topic(self, found: TopicLeaders) -> None:
        if isinstance(found.error, KafkaError):
            self._raise(found.error.code, found.error.message)

    def _check(self, failures: Iterable[Failure], partitions: Iterable[int]) -> None:
        """Check that the offsets of all partitions are known."""
        failed = tuple(failures)
        if len(failed) == len(tuple(partitions)) and all(each.code == Code.leader_not_available for each in failed):
            raise no_leader(self._topic)
        for each in failed:
            self._raise(each.code, f"{each.name}: {each.message}")

    def _raise(self, code: int | None, message: str) -> NoReturn:
        if code == Code.unknown_topic_or_partition:
            raise no_topic(self._topic, self._session.settings)
        if code in (Code.topic_authorization_failed, Code.cluster_authorization_failed):
            raise not_allowed(self._topic)
        raise BrokerUnavailable(f"reading {self._topic}: {message}")


@contextmanager
def open_log(settings: ClientSettings, topic: str = OFFSETS_TOPIC) -> Iterator[OffsetsLog]:
    """Enter with the log of a cluster, over connections of its own."""
    with WireSession(settings) as session:
        yield OffsetsLog(session, topic)
