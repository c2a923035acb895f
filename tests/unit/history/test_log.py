"""librdkafka's errors as errors of kgroups."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable, ClusterUnreachable, HistoryError, KgroupsError
from kgroups.history.extract.log import raise_error
from kgroups.model.placement import OFFSETS_TOPIC

SETTINGS = ClientSettings((("b", 1),), timeout=5)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (KafkaError._TRANSPORT, ClusterUnreachable, "no response from b:1 within 5 s: as it says"),
        (KafkaError._TIMED_OUT, ClusterUnreachable, "no response from b:1 within 5 s"),
        (KafkaError._TIMED_OUT_QUEUE, ClusterUnreachable, "no response from b:1 within 5 s"),
        # "No leaders found", when the only broker died after it had told of itself.
        (KafkaError._NOENT, BrokerUnavailable, "none of its partitions has an available leader"),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, HistoryError, "no topic __consumer_offsets"),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, HistoryError, "needs the ACLs DESCRIBE and READ on TOPIC"),
        (KafkaError.UNKNOWN, BrokerUnavailable, "reading __consumer_offsets: as it says"),
    ],
)
def test_librdkafka_errors_are_translated(code: int, kind: type[KgroupsError], words: str) -> None:
    with pytest.raises(kind, match=words):
        raise_error(KafkaError(code, "as it says"), OFFSETS_TOPIC, SETTINGS)
