"""The ends of a log, over fake brokers that fail on demand, and librdkafka's errors in the same words."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import KafkaError
from kio.schema.errors import ErrorCode

from kgroups.config.settings import ClientSettings
from kgroups.errors import BrokerUnavailable, ClusterUnreachable, HistoryError, KgroupsError, Reason
from kgroups.history.extract.errors import raise_error
from kgroups.history.extract.ranges import Ends
from kgroups.history.live.offsets_log import OffsetsLog
from kgroups.history.live.wire_session import WireSession
from kgroups.model.operations.origin import topic_id_text
from kgroups.model.placement import OFFSETS_TOPIC
from tests.fakes.broker import FakeCluster
from tests.fakes.record_batches import batch
from tests.fakes.serving import serving

SETTINGS = ClientSettings((("b", 1),), timeout=5)


@pytest.fixture
def fake() -> FakeCluster:
    fake = FakeCluster(2, "4.3.1")
    fake.state.topic(OFFSETS_TOPIC, [0, 1], start=3, end=9, stable=7, times={4: 1000, 8: 2000}, topic_id=77)
    return fake


@contextmanager
def opened(fake: FakeCluster, topic: str = OFFSETS_TOPIC, patience: float = 0.0) -> Iterator[OffsetsLog]:
    with serving(fake), WireSession(fake.settings()) as session:
        yield OffsetsLog(session, topic, patience)


def logins(fake: FakeCluster) -> int:
    return len(fake.asked("ApiVersions"))


def test_ends_of_every_partition_are_read_over_one_login(fake: FakeCluster) -> None:
    with opened(fake) as log:
        assert log.partitions() == [0, 1]
        before = logins(fake)
        assert log.ends() == {0: Ends(3, 7, 9), 1: Ends(3, 7, 9)} == log.ends()
        assert log.topic_id == topic_id_text(77)
        assert logins(fake) == before + 1  # the other broker, once


@pytest.mark.parametrize("hidden_from", [None, 7], ids=["no transaction", "open transaction"])
def test_commits_between_two_requests_are_not_an_open_transaction(fake: FakeCluster, hidden_from: int | None) -> None:
    def commit_afterwards(api: str, answer: Any) -> Any:
        if api == "ListOffsets":
            topic = fake.state.topics[OFFSETS_TOPIC]
            fake.state.topics[OFFSETS_TOPIC] = replace(topic, end=topic.end + 6)
        return answer

    fake.state.topic(OFFSETS_TOPIC, [0, 1], start=3, end=9, stable=hidden_from)
    for broker in fake.brokers.values():
        broker.bend = commit_afterwards
    with opened(fake) as log:
        for ends in (each for _ in range(5) for each in log.ends().values()):
            assert ends.stable == (ends.end if hidden_from is None else hidden_from)


def test_brokers_without_topic_ids(fake: FakeCluster) -> None:
    old = FakeCluster(1, "2.5.1")
    old.state.topic(OFFSETS_TOPIC, [0])
    with opened(old) as log:
        assert (log.partitions(), log.topic_id) == ([0], None)


def test_offset_of_a_time_is_that_of_the_next_record_or_the_last_stable_one(fake: FakeCluster) -> None:
    with opened(fake) as log:
        ends = log.ends()
        assert [log.at(ms, ends) for ms in (500, 1001, 3000)] == [dict.fromkeys((0, 1), offset) for offset in (4, 8, 7)]


def test_first_record_that_a_transaction_hides_has_a_time(fake: FakeCluster) -> None:
    fake.state.topic(OFFSETS_TOPIC, [0, 1], end=9, stable=7, logs={0: [batch(7, [(7, 1234), (8, 1250)])]})
    fake.state.fail("Fetch", f"{OFFSETS_TOPIC}-1", ErrorCode.unknown_server_error)
    with opened(fake) as log:
        assert log.first_unread_times(log.ends()) == {0: 1234}
        assert log.first_unread_times({0: Ends(0, 9, 9)}) == {}
    assert log.first_unread_times({0: Ends(0, 7, 9)}) == {}  # the cluster does not respond any more


@pytest.mark.parametrize(
    ("api", "name", "code", "reason", "words"),
    [
        (
            "Metadata",
            OFFSETS_TOPIC,
            ErrorCode.unknown_topic_or_partition,
            Reason.TOPIC_NOT_FOUND,
            f"no topic {OFFSETS_TOPIC}: no group ever committed",
        ),
        (
            "Metadata",
            OFFSETS_TOPIC,
            ErrorCode.topic_authorization_failed,
            Reason.NOT_AUTHORIZED,
            f"not allowed to read {OFFSETS_TOPIC}: the principal needs the ACLs DESCRIBE and READ on TOPIC",
        ),
        (
            "ListOffsets",
            f"{OFFSETS_TOPIC}-1",
            ErrorCode.topic_authorization_failed,
            Reason.NOT_AUTHORIZED,
            "needs the ACLs DESCRIBE and READ on TOPIC",
        ),
    ],
)
def test_missing_topic_and_missing_acls_are_named(
    fake: FakeCluster, api: str, name: str, code: ErrorCode, reason: Reason, words: str
) -> None:
    fake.state.fail(api, name, code)
    with opened(fake) as log:
        before = len(fake.requests)
        for _ in range(2):
            with pytest.raises(HistoryError, match=words) as error:
                log.ends()
            assert error.value.reason == reason
        assert len([each for each in fake.requests[before:] if each.api == "ApiVersions"]) <= len(fake.brokers)


def test_topic_without_any_leader_is_named(fake: FakeCluster) -> None:
    fake.state.topic(OFFSETS_TOPIC, [-1, -1])
    with opened(fake) as log, pytest.raises(BrokerUnavailable, match="none of its partitions has an available leader"):
        log.ends()


def test_failed_partition_is_named(fake: FakeCluster) -> None:
    fake.state.fail("ListOffsets", f"{OFFSETS_TOPIC}-1", ErrorCode.unknown_server_error)
    with opened(fake) as log, pytest.raises(BrokerUnavailable, match=f"reading {OFFSETS_TOPIC}: {OFFSETS_TOPIC}-1: "):
        log.ends()


def test_partition_that_finds_a_leader_is_waited_for(fake: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fake.state.topic(OFFSETS_TOPIC, [0, -1], end=9)

    def pause(seconds: float) -> None:
        found.leaders[1] = 0

    monkeypatch.setattr(time, "sleep", pause)
    with opened(fake, patience=60) as log:
        assert log.ends() == dict.fromkeys((0, 1), Ends(0, 9, 9))


def test_cluster_that_never_responded_is_an_error_at_once() -> None:
    session = WireSession(ClientSettings((("127.0.0.1", 1),)))
    with session, pytest.raises(ClusterUnreachable, match="no bootstrap server responded"):
        OffsetsLog(session, patience=3600).ends()


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (KafkaError.UNKNOWN_TOPIC_OR_PART, HistoryError, "no topic __consumer_offsets"),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, HistoryError, "needs the ACLs DESCRIBE and READ on TOPIC"),
        (KafkaError.UNKNOWN, BrokerUnavailable, "reading __consumer_offsets: as it says"),
    ],
)
def test_librdkafka_errors_are_translated(code: int, kind: type[KgroupsError], words: str) -> None:
    with pytest.raises(kind, match=words):
        raise_error(KafkaError(code, "as it says"), OFFSETS_TOPIC, SETTINGS)
