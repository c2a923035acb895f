"""Records of a group, read backward: the newest record of a key wins, and limits are respected and reported."""

from __future__ import annotations

from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.offsets_topic.reader import read_group_logs
from kgroups.model.group_log import CommitTimes, GroupLogs, Key, ReadBudget, Timeouts
from kgroups.protocol.record_batch import Aborted
from tests.fakes import broker as faults
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster
from tests.fakes.offset_records import commit_key, commit_value, key_bytes, value_bytes
from tests.fakes.record_batches import TRANSACTIONAL, Batch, batch, marker

LOG = "__consumer_offsets"
COMMIT: Key = (1, "g", "t", 0)
GROUP: Key = (2, "g")
PLENTY = ReadBudget(1 << 30, 60)


def commit(offset: int, at: int, **rest: Any) -> Batch:
    value = commit_value(3, commitTimestamp=at)
    return batch(offset, [(offset, at)], key=commit_key(), value=value, **rest)


def group(offset: int, generation: int, *members: dict[str, Any]) -> Batch:
    answer = {"protocolType": "consumer", "generation": generation, "protocol": "range", "leader": f"m-{generation}"}
    value = value_bytes(2, 3, {**answer, "currentStateTimestamp": 1000 + generation, "members": list(members)})
    return batch(offset, [(offset, 5000 + offset)], key=key_bytes(2, "g"), value=value)


def other(offset: int, size: int = 10) -> Batch:
    return batch(offset, [(offset, 5000 + offset)], key=commit_key("other"), value=bytes(size))


def fake(*log: Batch, **rest: Any) -> FakeCluster:
    found = FakeCluster(1, "4.3.1")
    found.state.topic(LOG, [0], end=log[-1].last + 1 if log else 0, logs={0: log}, **rest)
    return found


def read(cluster: FakeCluster, *keys: Key, limits: ReadBudget = PLENTY, retention: bool = False) -> GroupLogs:
    async def query(admin: Any) -> GroupLogs:
        found: GroupLogs = await read_group_logs(admin.cluster, {"g": frozenset(keys)}, limits, retention=retention)
        return found

    return ask(cluster, query)


def test_read_newest_record_of_a_key_wins() -> None:
    member = {"memberId": "m-2", "clientId": "c", "clientHost": "/h", "subscription": b"", "assignment": b""}
    member |= {"groupInstanceId": None, "rebalanceTimeout": 300_000, "sessionTimeout": 45_000}
    answer = read(fake(group(0, 1), commit(1, 70), group(2, 2, member), commit(3, 90), other(4)), COMMIT, GROUP)
    log = answer.of("g")
    assert (log.generation, log.leader, log.state_since, log.rebalanced) == (2, "m-2", 1002, 5002)
    assert log.timeouts == {"m-2": Timeouts(45_000, 300_000)}
    assert log.commits == {("t", 0): CommitTimes(90)}
    (output,) = answer.notices
    assert output.startswith("--deep: read 5 records (")
    assert output.endswith(f") of {LOG}-0, offsets 0 to 5 of 0 to 5, back to 1970-01-01T00:00:00.070Z")


def test_read_tombstone_ends_the_search_for_its_key() -> None:
    gone = batch(1, [(1, 80)], key=commit_key(), value=None)
    answer = read(fake(commit(0, 70), gone), COMMIT)
    assert not answer.of("g").commits
    assert "stopped" not in answer.notices[0]


def test_read_without_wanted_keys_fetches_nothing() -> None:
    assert read(fake(commit(0, 11))) == GroupLogs({}, ())
    assert read(fake(commit(0, 11)), COMMIT).logs.keys() == {"g"}


def test_read_stops_at_the_newest_record_of_each_key() -> None:
    cluster = fake(commit(0, 1), *(other(offset) for offset in range(1, 9000)), commit(9000, 99))
    answer = read(cluster, COMMIT)
    assert answer.of("g").commits[("t", 0)].committed == 99
    assert "offsets 8,985 to 9,001 of 0 to 9,001" in answer.notices[0]
    assert "read 16 records" in answer.notices[0]


def test_read_reaches_the_log_start_if_needed() -> None:
    cluster = fake(commit(0, 1), *(other(offset) for offset in range(1, 9000)))
    answer = read(cluster, COMMIT)
    assert answer.of("g").commits[("t", 0)].committed == 1
    assert answer.before == {}
    assert "offsets 0 to 9,000 of 0 to 9,000" in answer.notices[0]


def test_read_stops_at_the_byte_limit_with_a_notice() -> None:
    cluster = fake(commit(0, 1), *(other(offset, 2000) for offset in range(1, 9000)))
    answer = read(cluster, COMMIT, limits=ReadBudget(2 << 20, 60))
    assert not answer.of("g").commits
    assert "stopped at 2,097,152 bytes, 1 not found" in answer.notices[0]
    read_from = int(answer.notices[0].split("offsets ")[1].split(" ")[0].replace(",", ""))
    assert answer.before == {"g": 5000 + read_from}
    assert len(cluster.asked("Fetch")) < 20


def test_read_stops_at_the_time_limit_with_a_notice() -> None:
    cluster = fake(commit(0, 1), *(other(offset) for offset in range(1, 9000)))
    cluster.brokers[0].fault("Fetch", faults.late(0.2))
    answer = read(cluster, COMMIT, limits=ReadBudget(1 << 20, 0.1))
    assert answer.notices[0].endswith("; stopped at 0.1 seconds, 1 not found")


def test_read_stops_at_the_command_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgroups.admin.log_search.backward_reader.SHARE_OF_TIME_LEFT", 0)
    answer = read(fake(commit(0, 1)), COMMIT)
    assert "; stopped at --timeout (" in answer.notices[0] and answer.notices[0].endswith(" s), 1 not found")


def test_read_does_not_decode_older_records_of_a_key() -> None:
    broken = batch(0, [(0, 70)], key=commit_key(), value=b"\0\x63")
    answer = read(fake(broken, commit(1, 80)), COMMIT)
    assert answer.of("g").commits == {("t", 0): CommitTimes(80)}
    assert "decoded" not in answer.notices[0]


def test_read_skips_records_of_aborted_transactions() -> None:
    aborted = commit(1, 99, attributes=TRANSACTIONAL, producer=7)
    cluster = fake(commit(0, 70), aborted, marker(2, 7), aborted=[Aborted(7, 1)])
    assert read(cluster, COMMIT).of("g").commits == {("t", 0): CommitTimes(70)}


def test_read_counts_undecodable_records() -> None:
    broken = batch(1, [(1, 80)], key=commit_key(), value=b"\0\x63")
    answer = read(fake(commit(0, 70), broken), COMMIT)
    assert answer.of("g").commits == {("t", 0): CommitTimes(70)}
    assert "; 1 could not be decoded" in answer.notices[0]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (ErrorCode.topic_authorization_failed, "not authorized"),
        (ErrorCode.unknown_server_error, "unknown server error"),
    ],
)
def test_read_fetch_error_is_a_notice(code: ErrorCode, reason: str) -> None:
    cluster = fake(commit(0, 70))
    cluster.state.fail("Fetch", f"{LOG}-0", code)
    answer = read(cluster, COMMIT)
    assert not answer.of("g").commits
    assert reason in answer.notices[0].lower()


def test_read_corrupt_batch_is_a_notice() -> None:
    answer = read(fake(Batch(0, 0, b"\0" * 8 + b"\0\0\0\x30" + b"\7" * 48)), COMMIT)
    assert "undecodable records" in answer.notices[0]


def test_read_missing_offsets_topic_is_a_notice() -> None:
    (output,) = read(FakeCluster(1, "4.3.1"), COMMIT).notices
    assert LOG in output


def test_read_returns_explicit_expiry() -> None:
    answer = batch(0, [(0, 1)], key=commit_key(), value=commit_value(1, expireTimestamp=5, commitTimestamp=2))
    assert read(fake(answer), COMMIT).of("g").commits == {("t", 0): CommitTimes(2, 5)}


def test_read_consumer_protocol_group_records() -> None:
    member = {"InstanceId": None, "RackId": None, "ClientId": "c", "ClientHost": "/h", "SubscribedTopicNames": []}
    member |= {"SubscribedTopicRegex": None, "RebalanceTimeoutMs": 7, "ServerAssignor": None}
    member["ClassicMemberMetadata"] = None
    log = [
        batch(0, [(0, 10)], key=key_bytes(5, "g", "m"), value=value_bytes(5, 0, member)),
        batch(1, [(1, 20)], key=key_bytes(6, "g"), value=value_bytes(6, 0, {"AssignmentEpoch": 3})),
    ]
    found = read(fake(*log), (5, "g", "m"), (6, "g")).of("g")
    assert (found.timeouts, found.rebalanced) == ({"m": Timeouts(None, 7)}, 20)
