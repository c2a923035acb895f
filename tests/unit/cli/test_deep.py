"""``kgroups describe --deep`` over fake brokers: values from the log, and their absence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from tests.fakes.broker import FakeCluster
from tests.fakes.offset_records import commit_key, commit_value, key_bytes, value_bytes
from tests.fakes.record_batches import batch

Run = Callable[..., tuple[int, str, str]]
LOG = "__consumer_offsets"
EMPTY_SINCE, COMMITTED, WEEK = 1_760_000_000_000, 1_759_000_000_000, 7 * 86_400_000


def shop(fake: FakeCluster) -> None:
    """A group without members, with a commit and a record of itself; and one that may not be seen."""
    answer = {"protocolType": "consumer", "generation": 4, "protocol": None, "leader": None, "members": []}
    group = value_bytes(2, 3, {**answer, "currentStateTimestamp": EMPTY_SINCE})
    value = commit_value(3, commitTimestamp=COMMITTED)
    log = [
        batch(0, [(0, COMMITTED)], key=commit_key(), value=value),
        batch(1, [(1, EMPTY_SINCE)], key=key_bytes(2, "g"), value=group),
    ]
    fake.state.topic("t", [0])
    fake.state.topic(LOG, [0], end=2, logs={0: log})
    fake.state.group("g", 0, commits={("t", 0): 42})
    fake.state.group("secret", 1)
    for api in ("DescribeGroups", "ConsumerGroupDescribe", "OffsetFetch"):
        fake.state.fail(api, "secret", ErrorCode.group_authorization_failed)


@pytest.fixture
def deep(run_cli: Run, serve: Callable) -> Callable[..., tuple[int, str, str]]:
    served = serve(fill=shop)
    for broker in ("0", "1"):
        served.state.settings[broker] = {"offsets.retention.minutes": "10080"}
    return lambda *words: run_cli("describe", "-b", served.bootstrap, "--deep", *words)


def items(answer: tuple[int, str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(answer[1])["items"]
    return found


def test_deep_offsets_have_commit_and_expiry_times(deep: Run) -> None:
    code, _, err = answer = deep("g", "-o", "json")
    (row,) = items(answer)
    assert code == 0 and "expiration time" not in err
    # Seven days after the group became empty, not after the commit (KIP-211).
    assert (row["committed_at"], row["expires_at"]) == ("2025-09-27T19:06:40.000Z", "2025-10-16T08:53:20.000Z")


@pytest.mark.parametrize("view", ["--offsets", "--members", "--state"])
def test_deep_unauthorized_group_is_a_row_with_the_reason(deep: Run, view: str) -> None:
    code, _, err = answer = deep("g", "secret", view, "-o", "json")
    (row,) = [row for row in items(answer) if row["group"] == "secret"]
    assert code == 1 and "group 'secret': not authorized" in err
    assert row["note"].startswith("not authorized: needs DESCRIBE on GROUP secret")
    assert {value for key, value in row.items() if key not in ("group", "note")} == {None}
    for output in ("plain", "table", "csv"):
        assert "secret" in deep("secret", view, "-o", output)[1]


@pytest.mark.parametrize(
    ("view", "last"),
    [
        ("--offsets", ["COMMITTED-AT", "EXPIRES-AT"]),
        ("--members", ["LEADER", "SESSION-TIMEOUT-MS", "REBALANCE-TIMEOUT-MS", "LAST-REBALANCE"]),
        ("--state", ["GENERATION", "LEADER", "STATE-SINCE", "LAST-REBALANCE"]),
    ],
)
def test_deep_wide_columns_come_last(deep: Run, view: str, last: list[str]) -> None:
    header = deep("g", "secret", view, "--wide", "-o", "plain")[1].splitlines()[0]
    assert header.split()[-len(last) :] == last and "NOTE" in header.split()


def test_deep_without_retention_setting_has_no_expiry(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    for broker in ("0", "1"):
        served.state.fail("DescribeConfigs", broker, ErrorCode.cluster_authorization_failed)
    code, out, err = run_cli("describe", "-b", served.bootstrap, "g", "--deep", "-o", "json")
    (row,) = json.loads(out)["items"]
    assert (code, row["expires_at"]) == (0, None) and row["committed_at"]
    assert (
        "the expiration time of offsets is unknown: not authorized: needs the ACL DESCRIBE_CONFIGS on the cluster"
        in err
    )


@pytest.mark.parametrize("words", [("--deep-mib", "3"), ("--deep-time", "3s")])
def test_deep_limits_without_deep_are_usage_errors(run_cli: Run, words: tuple[str, ...]) -> None:
    for command in ("describe", "explain"):
        code, out, err = run_cli(command, "-b", "127.0.0.1:1", "g", *words)
        assert (code, out) == (2, "") and "require --deep" in err


def test_deep_topology_is_a_usage_error(run_cli: Run) -> None:
    code, out, err = run_cli("describe", "-b", "127.0.0.1:1", "g", "--topology", "--deep")
    assert (code, out) == (2, "") and "--deep and --topology are mutually exclusive" in err
