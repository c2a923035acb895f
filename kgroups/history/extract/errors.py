"""Why a topic cannot be read: the same words for both clients."""

from __future__ import annotations

from typing import NoReturn

from confluent_kafka import KafkaError

from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable, HistoryError, Reason

_DENIED = frozenset({KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED})


def no_topic(topic: str, settings: ClientSettings) -> HistoryError:
    return HistoryError(
        f"the cluster at {settings.bootstrap_servers} has no topic {topic}: no group ever committed",
        reason=Reason.TOPIC_NOT_FOUND,
    )


def not_allowed(topic: str) -> HistoryError:
    return HistoryError(
        f"not allowed to read {topic}: the principal needs the ACLs DESCRIBE and READ on TOPIC {topic}",
        reason=Reason.NOT_AUTHORIZED,
    )


def no_leader(topic: str) -> BrokerUnavailable:
    return BrokerUnavailable(
        f"reading {topic}: none of its partitions has an available leader; check that the brokers are running"
    )


def raise_error(error: KafkaError, topic: str, settings: ClientSettings) -> NoReturn:
    """Raise the error of kgroups for an error of librdkafka.

    :raises HistoryError: if the topic does not exist, or an ACL is missing, which the message names.
    :raises BrokerUnavailable: for any other error.
    """
    code = error.code()
    if code in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
        raise no_topic(topic, settings)
    if code in _DENIED:
        raise not_allowed(topic)
    raise BrokerUnavailable(f"reading {topic}: {error.str()}")
