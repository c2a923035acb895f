"""Start and end offsets of ``__consumer_offsets``, requested for all its partitions at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any, NoReturn

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from kgroups.config.librdkafka import librdkafka_options, make_client
from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable, ClusterUnreachable, HistoryError, Reason
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.protocol.record_schemas import NO_TOPIC_ID

from .ranges import Ends

_EARLIEST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
_LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
_DENIED = frozenset({KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED})
UNREACHABLE = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._RESOLVE,
    }
)
"""librdkafka's errors if no broker responds."""
_END = -1
"""librdkafka's offset for a time after the last record."""


class OffsetsLog:
    """The topic of one cluster. Every method raises the errors of :func:`raise_error`."""

    def __init__(self, settings: ClientSettings, topic: str = OFFSETS_TOPIC) -> None:
        self._settings = settings
        self._topic = topic
        self._client = make_client(AdminClient, librdkafka_options(settings))
        self.topic_id: str | None = None
        """ID of the topic, after the first request; ``None`` if the brokers do not report it."""

    def partitions(self) -> list[int]:
        """Return the partitions, in ascending order."""
        topics = self._client.describe_topics(TopicCollection([self._topic]), request_timeout=self._settings.timeout)
        found = self._wait(topics[self._topic])
        topic_id = str(found.topic_id)
        self.topic_id = None if topic_id == NO_TOPIC_ID else topic_id
        return sorted(partition.id for partition in found.partitions)

    def ends(self) -> dict[int, Ends]:
        """Return the start offset, last stable offset, and end offset of each partition."""
        partitions = self.partitions()
        starts = self._offsets(partitions, _EARLIEST)
        stable = self._offsets(partitions, _LATEST, IsolationLevel.READ_COMMITTED)
        ends = self._offsets(partitions, _LATEST)
        return {each: Ends(starts[each], stable[each], ends[each]) for each in partitions}

    def at(self, milliseconds: int, ends: Mapping[int, Ends]) -> dict[int, int]:
        """Return the offset of the first record at or after a time, in milliseconds since 1970, by partition.

        For a partition without such a record, its last stable offset.
        """
        found = self._offsets(ends, OffsetSpec.for_timestamp(milliseconds))
        return {each: ends[each].stable if offset == _END else offset for each, offset in found.items()}

    def _offsets(
        self,
        partitions: Iterable[int],
        spec: OffsetSpec,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[int, int]:
        request = {TopicPartition(self._topic, partition): spec for partition in partitions}
        futures = self._client.list_offsets(request, isolation_level=isolation, request_timeout=self._settings.timeout)
        return {key.partition: self._wait(future).offset for key, future in futures.items()}

    def _wait(self, future: Future[Any]) -> Any:
        try:
            return future.result()
        except KafkaException as error:
            raise_error(error.args[0], self._topic, self._settings)


def check_position(topic: str, partition: int, position: int, stable: int | None) -> None:
    """Check that a partition still reaches to where it was read.

    :param stable: its last stable offset now; ``None`` if it does not exist.
    :raises HistoryError: if it does not.
    """
    if stable is None or stable < position:
        raise HistoryError(
            f"{topic}-{partition} ends at {stable or 0} now, but was read up to {position} before: the topic was "
            "recreated or its log was truncated; collect into a new store"
        )


def raise_error(error: KafkaError, topic: str, settings: ClientSettings) -> NoReturn:
    """Raise the error of kgroups for an error of librdkafka.

    :raises HistoryError: if the topic does not exist, or an ACL is missing, which the message names.
    :raises ClusterUnreachable: if no broker responds.
    :raises BrokerUnavailable: for any other error.
    """
    code = error.code()
    if code in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
        raise HistoryError(
            f"the cluster at {settings.bootstrap_servers} has no topic {topic}: no group ever committed",
            reason=Reason.TOPIC_NOT_FOUND,
        )
    if code in _DENIED:
        raise HistoryError(
            f"not allowed to read {topic}: the principal needs the ACLs DESCRIBE and READ on TOPIC {topic}",
            reason=Reason.NOT_AUTHORIZED,
        )
    if code in UNREACHABLE:
        raise ClusterUnreachable(
            f"no response from {settings.bootstrap_servers} within {settings.timeout:g} s: {error.str()}"
        )
    if code == KafkaError._NOENT:  # also if brokers went down between two requests
        raise BrokerUnavailable(
            f"reading {topic}: none of its partitions has an available leader; check that the brokers are running"
        )
    raise BrokerUnavailable(f"reading {topic}: {error.str()}")
