"""``describe --deep`` compared with the output of Kafka's own formatters for the same records."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from kgroups.model.moments import moment_text
from tests.integration.asking import Row
from tests.integration.known_cluster import KnownCluster
from tests.integration.offsets_log import read_log
from tests.integration.record_oracle import ask_formatters
from tests.integration.versions import newest_only

_RETENTION_MS: Final = 7 * 24 * 60 * 60 * 1000
"""Kafka's default of ``offsets.retention.minutes``."""

_COMMITS_ALL_THE_TIME: Final = "orders-sticky"
"""Java's verifiable consumer: by the time that it is asked about it has committed again."""

pytestmark = newest_only


class Printed(NamedTuple):
    """The newest value of each key: group -> its record; (group, topic, partition) -> its commit. And the earlier
    output of ``--deep``: offsets, members, and state."""

    groups: dict[str, Row]
    commits: dict[tuple[str, str, int], Row]
    deep: dict[str, list[Row]]


@pytest.fixture(scope="module")
def formatter_output(known_cluster: KnownCluster, jdk: None, tmp_path_factory: pytest.TempPathFactory) -> Printed:
    answer = {view: deep(known_cluster, f"--{view}") for view in ("offsets", "members", "state")}
    pairs = [(each.key, each.value) for each in read_log(known_cluster.sandbox.bootstrap)]
    groups, commits = ask_formatters(pairs, tmp_path_factory.mktemp("formatters"))
    newest: dict[tuple[str, str, int], Row] = {}
    for each in commits:
        key = each["key"]["data"]
        newest[key["group"], key["topic"], key["partition"]] = _data(each)
    return Printed({each["key"]["data"]["group"]: _data(each) for each in groups}, newest, answer)


def _data(formatter_output: Row) -> Row:
    """Empty where the record is a tombstone."""
    found: Row = (formatter_output["value"] or {}).get("data", {})
    return found


def deep(known_cluster: KnownCluster, *words: str) -> list[Row]:
    patient = ("--deep-time", "60s", "--timeout", "90s")
    answer = known_cluster.ask("describe", "--all-groups", *words, "--deep", *patient, "-o", "json")
    assert answer.code in (0, 1), answer.err  # a topic of one of the groups is deleted
    known = known_cluster.groups
    return [row for row in answer.items if row["group"] in known]


def classic(known_cluster: KnownCluster, rows: list[Row]) -> list[Row]:
    found = [row for row in rows if known_cluster.groups[row["group"]].type == "Classic"]
    assert found
    return found


def test_deep_state_matches_kafka_formatter(known_cluster: KnownCluster, formatter_output: Printed) -> None:
    rows = classic(known_cluster, formatter_output.deep["state"])
    answer = {row["group"]: (row["generation"], row["leader"], row["state_since"]) for row in rows}
    assert answer == {
        name: (value.get("generation"), value.get("leader"), _moment(value.get("currentStateTimestamp")))
        for name in answer
        for value in [formatter_output.groups.get(name, {})]
    }
    assert {row["leader"] is None for row in rows} == {True, False}


def test_deep_members_match_kafka_formatter(known_cluster: KnownCluster, formatter_output: Printed) -> None:
    rows = classic(known_cluster, formatter_output.deep["members"])
    answer = {
        (row["group"], row["consumer_id"]): (row["session_timeout_ms"], row["rebalance_timeout_ms"], row["leader"])
        for row in rows
    }
    groups = {group for group, _ in answer}
    assert answer == {
        (name, member["memberId"]): (
            member["sessionTimeout"],
            member["rebalanceTimeout"],
            member["memberId"] == value["leader"],
        )
        for name, value in formatter_output.groups.items()
        if name in groups
        for member in value.get("members", ())
    }


def test_deep_offsets_match_kafka_formatter(known_cluster: KnownCluster, formatter_output: Printed) -> None:
    rows = [
        row
        for row in formatter_output.deep["offsets"]
        if row["current_offset"] is not None and row["group"] != _COMMITS_ALL_THE_TIME
    ]
    answer = {
        (row["group"], row["topic"], row["partition"]): (row["current_offset"], row["committed_at"]) for row in rows
    }
    assert answer == {
        key: (value["offset"], _moment(value["commitTimestamp"]))
        for key, value in formatter_output.commits.items()
        if value and key[0] in known_cluster.groups and key[0] != _COMMITS_ALL_THE_TIME
    }
    for row in rows:
        record = formatter_output.groups.get(row["group"], {})
        empty = known_cluster.groups[row["group"]].state == "Empty"
        assert (row["expires_at"] is not None) == empty
        if empty:
            # Of a group that has had no members there is no record, or one without a protocol: each commit by itself.
            commit = formatter_output.commits[row["group"], row["topic"], row["partition"]]
            since = record["currentStateTimestamp"] if record.get("protocolType") else commit["commitTimestamp"]
            assert row["expires_at"] == _moment(since + _RETENTION_MS), row


def _moment(ms: int | None) -> str | None:
    return None if ms is None or ms < 0 else moment_text(ms)
