"""``kgroups lag`` over fake brokers: rows, their order, and notes."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.status import Status, rank_of
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.record_batches import batch, marker

Run = Callable[..., tuple[int, str, str]]
HOUR = 3_600_000


def shop(fake: FakeCluster) -> None:
    """orders: 3 partitions with the offsets 5 to 99; those of partition 1 are transactions' ends from 98 on."""
    now = int(time.time() * 1000)
    aged = [batch(at, [(at, now - 3 * HOUR - 12 * 60_000)]) for at in range(5, 100)]
    logs = {0: aged, 1: [*aged[:-2], marker(98, 1), marker(99, 1)], 2: aged}
    fake.state.topic("orders", [0, 1, 0], start=5, end=100, logs=logs)
    fake.state.topic("clicks", [1], end=10, logs={0: [batch(0, [(at, now - 60_000) for at in range(10)])]})
    member = FakeMember("m-1", {"orders": (0, 1)})
    fake.state.group("ahead", 0, commits={("clicks", 0): 11})
    fake.state.group("busy", 0, state="Stable", members=(member,), commits={("orders", 0): 90})
    fake.state.group("done", 1, commits={("orders", 0): 100, ("orders", 1): 100, ("orders", 2): 100})
    fake.state.group("late", 1, commits={("orders", 0): 3, ("orders", 1): 98, ("orders", 2): 100, ("clicks", 0): 4})
    fake.state.group("marked", 1, commits={("orders", 0): 100, ("orders", 1): 98, ("orders", 2): 100})
    fake.state.group("nothing", 1)


@pytest.fixture
def lag(run_cli: Run, serve: Callable) -> Callable[..., tuple[int, str, str]]:
    served = serve(fill=shop)
    return lambda *words: run_cli("lag", "-b", served.bootstrap, *words)


def items(answer: tuple[int, str, str]) -> list[dict[str, Any]]:
    code, out, _ = answer
    assert code == 0
    found: list[dict[str, Any]] = json.loads(out)["items"]
    return found


def names(answer: tuple[int, str, str]) -> list[str]:
    return [row["group"] for row in items(answer)]


def test_lag_lists_all_groups_by_name(lag: Run, golden: Callable[[str, str], None]) -> None:
    code, out, err = lag()
    assert (code, err) == (0, "")
    golden("cli/lag.plain", out)


@pytest.mark.parametrize("by", ["topic", "partition", "member"])
def test_lag_by_matches_golden(lag: Run, by: str, golden: Callable[[str, str], None]) -> None:
    code, out, err = lag("--by", by)
    assert (code, err) == (0, "")
    golden(f"cli/lag-by-{by}.plain", out)


def test_lag_on_a_terminal_shows_the_status_worst_first_and_totals(lag: Run) -> None:
    code, out, err = lag("-o", "table")
    assert code == 0
    header, *rows = out.splitlines()
    at = header.index("STATUS")
    found = [row[at:].split("  ")[0].strip() for row in rows]
    assert found == sorted(found, key=rank_of) and len(set(found)) > 1
    assert f"note: {len(rows)} groups: " in err and "total lag at least" in err


def held_back(fake: FakeCluster) -> None:
    """A transaction is open from offset 10 on, in a log of 100 offsets; other records after it are committed."""
    fake.state.topic("orders", [0], end=100, stable=10)
    member = FakeMember("m-1", {"orders": (0,)})
    fake.state.group("waits", 0, state="Stable", members=(member,), commits={("orders", 0): 10})
    fake.state.group("read", 0, commits={("orders", 0): 100})
    fake.state.group("before", 0, commits={("orders", 0): 4})
    fake.state.group("ahead", 0, commits={("orders", 0): 101})


def test_records_behind_an_open_transaction_are_not_read(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=held_back)
    found = items(run_cli("lag", "-b", served.bootstrap, "--isolation", "read_committed", "-o", "json"))
    assert {row["group"]: (row["status"], row["total_lag"], row["ahead"]) for row in found} == {
        "ahead": ("beyond log end", 0, 1),
        "before": ("no member", 6, 0),
        "read": ("ok", 0, 0),
        "waits": ("unknown", 0, 0),
    }
    assert {row["group"]: row["note"] for row in found}["waits"] == (
        "orders-0: 90 offsets wait behind an open transaction"
    )
    limits = ("--max-lag", "10", "--max-partition-lag", "10", "--max-topic-lag", "orders=10", "--max-time-lag", "1m")
    words = ("check", "-b", served.bootstrap, "--isolation", "read_committed", *limits, "-o", "json")
    for group, expected in {"waits": "UNKNOWN", "read": "OK", "ahead": "CRITICAL"}.items():
        checks = json.loads(run_cli(*words, group)[1])["items"]
        severities = {each["check"]: each["status"] for each in checks if each["check"] != "exists"}
        if group == "ahead":
            assert severities.pop("time-lag") == "UNKNOWN"
        assert len(severities) >= 3 and set(severities.values()) == {expected}, checks
    plain = items(run_cli("lag", "-b", served.bootstrap, "-o", "json"))
    assert {row["group"]: row["total_lag"] for row in plain} == {"ahead": 0, "before": 96, "read": 0, "waits": 90}


def test_lag_in_a_pipe_shows_the_status_only_if_a_column_asks(lag: Run) -> None:
    _, out, err = lag()
    assert "STATUS" not in out and "total lag" not in err
    assert lag("--columns", "group,status")[1].splitlines()[0].split() == ["GROUP", "STATUS"]
    assert all(item["status"] in set(Status) for item in items(lag("-o", "json")))


def test_lag_sorts_by_status_from_worst_to_best(lag: Run) -> None:
    best_last = [item["status"] for item in items(lag("-o", "json", "--sort", "status"))]
    assert best_last == sorted(best_last, key=rank_of)
    assert [item["status"] for item in items(lag("-o", "json", "--sort=-status"))] == best_last[::-1]


def test_lag_selects_groups_and_topics(lag: Run) -> None:
    assert names(lag("late", "--group", "done", "-o", "json")) == ["done", "late"]
    assert names(lag("--regex", "d.*|b.*", "-o", "json")) == ["busy", "done"]
    assert names(lag("--topic", "clicks", "-o", "json")) == ["ahead", "late"]
    (row,) = items(lag("late", "--topic", "clicks", "-o", "json"))
    assert (row["total_lag"], row["partitions"]) == (6, 1)
    assert lag("--regex", "x")[2] == ("kgroups: note: no group matches --regex 'x': the whole name must match\n")


def test_lag_only_lagging_and_min_filter_rows(lag: Run) -> None:
    assert names(lag("--only-lagging", "-o", "json")) == ["busy", "late", "marked"]
    assert names(lag("--min", "6", "-o", "json")) == ["busy", "late"]
    assert names(lag("--min", "0", "-o", "json")) == ["ahead", "busy", "done", "late", "marked"]
    rows = items(lag("--by", "partition", "--only-lagging", "-o", "json"))
    assert [(row["group"], row["topic"], row["partition"]) for row in rows] == [
        ("busy", "orders", 0),
        ("late", "clicks", 0),
        ("late", "orders", 0),
        ("late", "orders", 1),
        ("marked", "orders", 1),
    ]


def test_lag_top_sorts_by_lag(lag: Run) -> None:
    assert [(row["group"], row["total_lag"]) for row in items(lag("--top", "3", "-o", "json"))] == [
        ("late", 105),
        ("busy", None),
        ("marked", 2),
    ]
    assert names(lag("--top", "2", "--sort", "-group", "-o", "json")) == ["nothing", "marked"]
    assert names(lag("--top", "99", "-o", "json"))[-2:] == ["done", "nothing"]
    (row,) = items(lag("--top", "1", "--by", "partition", "-o", "json"))
    assert (row["group"], row["partition"], row["lag"]) == ("late", 0, 97)


def test_lag_time_as_text(lag: Run) -> None:
    _, out, err = lag("--time", "--columns", "group,total_lag,time_lag")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["ahead", "0", "-"],
        ["busy", "-", "-"],
        ["done", "0", "0"],
        ["late", "105", "3h12m"],
        ["marked", "2", "0"],
        ["nothing", "-", "-"],
    ]
    assert err == ""
    assert "TIME-LAG" in lag("--time")[1] and "TIME-LAG" not in lag("--wide")[1]


def test_lag_time_as_json_and_csv(lag: Run) -> None:
    by_group = {row["group"]: row["time_lag_ms"] for row in items(lag("--time", "-o", "json"))}
    assert by_group["done"] == by_group["marked"] == 0 and by_group["ahead"] is by_group["nothing"] is None
    assert 0 <= by_group["late"] - (3 * HOUR + 12 * 60_000) < 60_000
    _, out, _ = lag("--time", "-o", "csv")
    rows = {row["group"]: row["time_lag_ms"] for row in csv.DictReader(out.splitlines())}
    assert rows["done"] == "0" and rows["nothing"] == "" and int(rows["late"]) > 3 * HOUR
    assert {row["time_lag_ms"] for row in items(lag("-o", "json"))} == {None}


def test_lag_time_by_partition_has_notes(lag: Run) -> None:
    rows = items(lag("late", "marked", "--by", "partition", "--time", "-o", "json"))
    notes = {(row["group"], row["topic"], row["partition"]): row["note"] for row in rows if row["note"]}
    assert notes == {
        ("late", "orders", 0): "data lost: 2 offsets deleted before they were read",
        ("late", "orders", 1): "no record is unread: only transaction markers, aborted records or compacted offsets",
        ("marked", "orders", 1): "no record is unread: only transaction markers, aborted records or compacted offsets",
    }


def test_lag_time_is_read_only_for_shown_rows(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    run_cli("lag", "-b", served.bootstrap, "--time", "--top", "1", "--by", "partition")
    assert [request.broker for request in served.fake.asked("Fetch")] == [0]
    served.fake.brokers[0].requests.clear()
    code, out, _ = run_cli("lag", "-b", served.bootstrap, "--time", "--top", "1", "--sort", "-time_lag", "-o", "jsonl")
    assert code == 0 and json.loads(out)["time_lag_ms"] >= 3 * HOUR
    assert {request.broker for request in served.fake.asked("Fetch")} == {0, 1}


def test_lag_unknown_time_is_not_0(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.state.fail("Fetch", "orders-1", ErrorCode.topic_authorization_failed)
    code, out, err = run_cli("lag", "-b", served.bootstrap, "done", "marked", "late", "--time", "-o", "json")
    rows = {row["group"]: row for row in json.loads(out)["items"]}
    assert code == 1
    assert rows["marked"]["time_lag_ms"] is None and "needs READ on TOPIC orders" in rows["marked"]["note"]
    assert rows["done"]["time_lag_ms"] == 0
    assert rows["late"]["time_lag_ms"] is None and "time lag at least 3h12m" in rows["late"]["note"]
    assert err.count("TOPIC_AUTHORIZATION_FAILED") == 1


def test_lag_unknown_log_end_is_not_no_lag(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.state.fail("ListOffsets", "clicks-0", ErrorCode.topic_authorization_failed)
    code, out, err = run_cli("lag", "-b", served.bootstrap, "--only-lagging", "-o", "json")
    assert code == 1
    assert [row["group"] for row in json.loads(out)["items"]] == ["busy", "late", "marked"]
    rows = json.loads(out)["items"]
    assert [(row["unknown"], row["total_lag"], row["known_lag"]) for row in rows] == [
        (0, None, 10),
        (1, None, 99),
        (0, 2, 2),
    ]
    hidden = "groups omitted although their lag is unknown, at least in part"
    assert f"{hidden}: 2; to see them, omit --only-lagging" in err


def test_lag_read_committed_excludes_open_transactions(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.state.topics["orders"].stable = 98
    args = ("lag", "-b", served.bootstrap, "marked", "--isolation", "read_committed", "--time", "-o", "json")
    (row,) = json.loads(run_cli(*args)[1])["items"]
    assert (row["total_lag"], row["max_lag"], row["ahead"]) == (0, 0, 0)


RETAINED = {
    "cleanup.policy": "delete",
    "retention.ms": str(4 * HOUR),
    "retention.bytes": "-1",
    "segment.ms": str(HOUR),
    "segment.bytes": "1000",
}


@pytest.fixture
def retained(serve: Callable) -> Any:
    """Topic orders is kept for 4 hours, clicks by its size: 1,000 bytes of 1 minute, of at most 3,000."""
    served = serve(fill=shop)
    served.state.settings |= {
        "orders": RETAINED,
        "clicks": {**RETAINED, "retention.ms": "-1", "retention.bytes": "3000"},
        **{broker: {"log.retention.check.interval.ms": "300000"} for broker in ("0", "1")},
    }
    served.state.topics["clicks"].sizes = {0: 1000}
    return served


def by_group(answer: tuple[int, str, str]) -> dict[str, Any]:
    return {row["group"]: row for row in json.loads(answer[1])["items"]}


def test_lag_headroom_is_the_smallest_of_each_group(run_cli: Run, retained: Any) -> None:
    answer = run_cli("lag", "-b", retained.bootstrap, "--headroom", "-o", "json")
    assert (answer[0], answer[2]) == (0, "")
    rows = by_group(answer)
    # 600 bytes follow in clicks, 2,400 more need 2.4 minutes at 1,000 bytes a minute.
    assert 0 <= rows["late"]["headroom_ms"] - 144_000 < 60_000 and rows["late"]["headroom_by"] == "retention.bytes"
    assert rows["late"]["headroom_max_ms"] > rows["late"]["headroom_ms"] + 300_000
    assert rows["done"]["headroom_by"] == rows["marked"]["headroom_by"] == "nothing unread"
    assert {rows[name]["headroom_ms"] for name in ("done", "marked", "ahead", "busy", "nothing")} == {None}
    # The lag of a partition without a commit is unknown.
    assert "headroom at most 47m" in rows["busy"]["note"] and rows["busy"]["headroom_by"] is None
    assert rows["late"]["time_lag_ms"] >= 3 * HOUR


@pytest.mark.parametrize("by", ["topic", "partition", "member"])
def test_lag_headroom_by_other_levels(run_cli: Run, retained: Any, by: str) -> None:
    code, out, _ = run_cli("lag", "late", "-b", retained.bootstrap, "--headroom", "--by", by, "-o", "json")
    found = {(row.get("topic"), row.get("partition")): row["headroom_by"] for row in json.loads(out)["items"]}
    assert (
        code == 0
        and found
        == {
            "topic": {("clicks", None): "retention.bytes", ("orders", None): "retention.ms"},
            "partition": {
                ("clicks", 0): "retention.bytes",
                ("orders", 0): "retention.ms",
                ("orders", 1): "nothing unread",
                ("orders", 2): "nothing unread",
            },
            "member": {(None, None): "retention.bytes"},
        }[by]
    )


def test_lag_headroom_as_text(run_cli: Run, retained: Any) -> None:
    words = ("--topic", "orders", "--columns", "group,headroom,headroom_max,headroom_by")
    code, out, err = run_cli("lag", "late", "done", "-b", retained.bootstrap, "--headroom", *words)
    lines = [line.split(maxsplit=3) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert lines[0] == ["GROUP", "HEADROOM", "HEADROOM-MAX", "HEADROOM-BY"]
    assert lines[1] == ["done", "-", "-", "nothing unread"]
    assert lines[2][0] == "late" and lines[2][1].startswith("47m") and lines[2][2].startswith("1h5")
    assert "HEADROOM" not in run_cli("lag", "-b", retained.bootstrap, "--wide")[1]


def test_lag_headroom_without_permission_is_unknown_and_named(run_cli: Run, retained: Any) -> None:
    retained.state.fail("DescribeConfigs", "orders", ErrorCode.topic_authorization_failed)
    retained.state.fail("DescribeLogDirs", "1", ErrorCode.cluster_authorization_failed)
    code, out, err = run_cli("lag", "-b", retained.bootstrap, "late", "done", "--headroom", "-o", "json")
    rows = by_group((code, out, err))
    assert code == 1 and rows["late"]["headroom_ms"] is None
    assert rows["done"]["headroom_by"] is None and "may be hidden" in rows["done"]["note"]
    assert "needs DESCRIBE_CONFIGS on TOPIC orders" in rows["late"]["note"]
    assert "headroom unknown of 1 partition: the size of the log is unknown: " in rows["late"]["note"]
    assert "topic 'orders': its retention is unknown" in err and "broker 1" in err
    assert {(acl["operation"], acl["resource"]) for acl in json.loads(out)["missing_acls"]} == {
        ("DESCRIBE_CONFIGS", "TOPIC"),
        ("DESCRIBE", "CLUSTER"),
    }


def test_lag_sorts_by_headroom(run_cli: Run, retained: Any) -> None:
    code, out, _ = run_cli(
        *("lag", "-b", retained.bootstrap, "late", "--by", "topic", "--headroom", "--sort", "headroom", "--top", "1"),
        *("-o", "jsonl"),
    )
    assert code == 0 and json.loads(out)["topic"] == "clicks"


@pytest.mark.parametrize(
    "words", [("--sort", "headroom"), ("--columns", "group,headroom_max_ms", "--time"), ("--columns", "headroom-by")]
)
def test_lag_headroom_columns_require_the_option(lag: Run, words: tuple[str, ...]) -> None:
    code, _, err = lag(*words)
    assert code == 2 and "requires --headroom" in err


def test_lag_headroom_is_not_available_by_cluster(lag: Run) -> None:
    code, _, err = lag("--by", "cluster", "--headroom")
    assert code == 2 and "--headroom is not supported with --by cluster" in err


def test_lag_exact_counts_records_that_consumers_receive(lag: Run) -> None:
    answer = lag("--exact", "-o", "json")
    rows = by_group(answer)
    assert (answer[0], answer[2]) == (0, "")
    counts = {name: (row["total_lag"], row["unread_min"], row["unread_max"]) for name, row in rows.items()}
    # late: orders-0 starts with offset 5, orders-1 ends with two markers, clicks is complete.
    assert counts["late"] == (97 + 2 + 6, 95 + 0 + 6, 95 + 0 + 6)
    assert counts["marked"] == (2, 0, 0) and counts["done"] == (0, 0, 0)
    assert counts["busy"] == counts["nothing"] == (None, None, None) and counts["ahead"] == (0, None, None)
    assert {row["unread_min"] for row in items(lag("-o", "json"))} == {None}


@pytest.mark.parametrize("by", ["topic", "partition", "member"])
def test_lag_exact_by_other_levels(lag: Run, by: str) -> None:
    rows = items(lag("late", "--exact", "--by", by, "-o", "json"))
    assert {(row.get("topic"), row.get("partition")): row["unread_max"] for row in rows} == {
        "topic": {("clicks", None): 6, ("orders", None): 95},
        "partition": {("clicks", 0): 6, ("orders", 0): 95, ("orders", 1): 0, ("orders", 2): 0},
        "member": {(None, None): 101},
    }[by]


def test_lag_exact_as_text(lag: Run) -> None:
    words = ("--topic", "clicks", "--exact", "--by", "partition", "--columns", "group,lag,unread,unread_max")
    assert lag("late", *words)[1].splitlines()[1].split() == ["late", "6", "6", "6"]
    assert "UNREAD" not in lag("--wide")[1]
    assert lag("--exact", "--by", "cluster")[0] == 2
    assert "the column unread_min requires --exact" in lag("--sort", "unread")[2]


def test_lag_exact_without_permission_is_unknown(run_cli: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.state.fail("Fetch", "clicks-0", ErrorCode.topic_authorization_failed)
    code, out, err = run_cli("lag", "late", "-b", served.bootstrap, "--exact", "-o", "json")
    (row,) = json.loads(out)["items"]
    assert code == 1 and (row["unread_min"], row["unread_max"]) == (None, None)
    assert err.count("needs READ on TOPIC clicks") == 1
