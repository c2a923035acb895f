"""What the options of a query select; what a table cannot be filtered by is an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kgroups.history.jobs.show import TABLES
from tests.fakes.history import History
from tests.unit.conftest import Ran


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with the groups orders and payments, of one cluster; its log was read until 12:01:30."""
    history = History()
    for second in range(3):
        history.commit("orders", second, 100)
    history.snapshot("orders", 1, 1, ["a", "b"])
    history.commit("payments", 2, 5, topic="pay")
    history.read(0, (0, history.next_offset(0)), history.next_offset(0), (0, 90))
    history.head(90, 200)
    folder = tmp_path_factory.mktemp("selection") / "store"
    history.stored_in(folder, "east")
    return str(folder)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("column", ["group", "topic"])
def test_filter_applies_or_is_an_error(table: str, column: str, location: str, run_cli: Callable[..., Ran]) -> None:
    value = "payments" if column == "group" else "pay"
    found = run_cli(
        "history", "show", table, "--store", location, f"--{column}", value, "--columns", column, "-o", "csv"
    )
    if column in TABLES[table].names:
        assert found.code == 0 and set(found.out.split()) <= {column, value}
    else:
        assert (found.code, found.out) == (2, "")
        assert f"--{column}: table {table} has no column {column}; tables with it: commits, " in found.err


@pytest.mark.parametrize("command", ["rebalances", "stale"])
def test_shorthand_names_its_table(command: str, location: str, run_cli: Callable[..., Ran]) -> None:
    found = run_cli("history", command, "--store", location, "--topic", "orders")
    assert (found.code, f"--topic: table {command} has no column topic" in found.err) == (2, True)


@pytest.mark.parametrize("table", ["latest_offsets", "stale", "expiring", "completeness"])
def test_since_of_a_table_about_one_time_is_an_error(table: str, location: str, run_cli: Callable[..., Ran]) -> None:
    found = run_cli("history", "show", table, "--store", location, "--since", "2026-03-01")
    assert (found.code, found.out) == (2, "")
    assert f"--since: table {table} shows the end of the time span; use --until, or a table" in found.err
    assert run_cli("history", "show", table, "--store", location, "--until", "2026-03-01T12:02").code == 0


def test_span_of_sql_that_limits_no_table_is_an_error(location: str, run_cli: Callable[..., Ran]) -> None:
    sql = ("history", "sql", "--store", location)
    found = run_cli(*sql, "select * from commits", "--since", "2026-03-01T12:00:01")
    assert (found.code, "--since: the query names no table that it limits" in found.err) == (2, True)
    assert run_cli(*sql, "select * from stale", "--since", "2026-03-01T12:00:01").code == 2
    assert run_cli(*sql, "select * from stale", "--until", "2026-03-01T12:02").code == 0
    both = run_cli(*sql, "select count(*) from commits join lag using (`group`)", "--since", "2026-03-01T12:00:01")
    assert (both.code, "note: --since and --until do not limit commits; use WHERE" in both.err) == (0, True)


COMMANDS = [("show", "commits"), ("lag",), ("rebalances",), ("stale",), ("sql", "select * from lag"), ("report",)]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("span", [("1h", "2h"), ("2h", "2h"), ("2026-03-02", "2026-03-01")])
def test_empty_span_is_a_usage_error(
    command: tuple[str, ...], span: tuple[str, str], location: str, run_cli: Callable[..., Ran]
) -> None:
    found = run_cli("history", *command, "--store", location, "--since", span[0], "--until", span[1])
    assert (found.code, found.out) == (2, "")
    assert "is not before --until 20" in " ".join(found.err.split())


def test_empty_span_of_dump_is_an_error_before_the_cluster_is_asked(run_cli: Callable[..., Ran]) -> None:
    found = run_cli("history", "dump", "-b", "127.0.0.1:1", "--since", "1h", "--until", "1h")
    assert (found.code, "is not before --until" in found.err) == (2, True)


def test_span_that_begins_in_the_future_is_empty(location: str, run_cli: Callable[..., Ran]) -> None:
    found = run_cli("history", "lag", "--store", location, "--since", "9000-01-01")
    assert (found.code, "--since 9000-01-01T00:00:00Z is not before now, 2" in found.err) == (2, True)


@pytest.mark.parametrize("output", ["plain", "csv", "json", "jsonl"])
@pytest.mark.parametrize("quiet", [(), ("-q",)])
@pytest.mark.parametrize(
    ("since", "until", "place"),
    [
        ("2025-01-01", "2025-01-02", "ends before the first data"),
        ("2026-04-01", "2026-04-02", "begins after the last data"),
    ],
)
def test_span_outside_of_the_store_is_unknown(
    output: str,
    quiet: tuple[str, ...],
    since: str,
    until: str,
    place: str,
    location: str,
    run_cli: Callable[..., Ran],
    tmp_path: Path,
) -> None:
    span = ("--store", location, "--since", since, "--until", until, *quiet)
    text = (
        f"the time span {place}: what happened in it is unknown; the store has the time from "
        "2026-03-01T12:00:00.000Z to 2026-03-01T12:01:30.000Z"
    )
    for command in (("show", "commits"), ("lag",), ("rebalances",), ("sql", "select * from lag")):
        found = run_cli("history", *command, *span, "-o", output)
        assert (found.code, text in found.err) == (1, True)
        if output == "json":
            assert text in json.loads(found.out)["notices"]
    found = run_cli("history", "report", *span, "--file", str(tmp_path / "report.html"))
    assert (found.code, text in found.err) == (1, True)


@pytest.mark.parametrize(
    ("table", "until", "code"),
    [
        ("commits", "2026-03-01T12:02", 0),
        ("commits", "2026-03-01T14:00", 1),
        ("rebalances", "2026-03-01T14:00", 1),
        ("commits", None, 0),  # not a request for what happened until now
        ("lag", "2026-03-01T14:00", 0),  # its rows show what is unknown
        ("stale", "2026-03-01T14:00", 0),
        ("heads", "2026-03-01T14:00", 0),
    ],
)
def test_time_after_the_log_was_read_is_named(
    table: str, until: str | None, code: int, location: str, run_cli: Callable[..., Ran]
) -> None:
    found = run_cli("history", "show", table, "--store", location, *(("--until", until) if until else ()))
    text = "the log was read until 2026-03-01T12:01:30.000Z: what happened since then is unknown"
    assert (found.code, text in found.err) == (code, until != "2026-03-01T12:02" and table != "heads")


def test_partition_of_the_log_that_was_not_read_is_named(tmp_path: Path, run_cli: Callable[..., Ran]) -> None:
    history = History()
    history.commit("orders", 0, 1)
    history.commit("other", 0, 1, log_partition=1)
    history.read(0, (0, 1), 1, (0, 0))
    history.read(1, (0, 1), 1, (0, 0), high_watermark=9)
    history.rows["coverage"][-1]["last_stable_offset"] = 9
    history.read(0, (1, 1), 0, (9000, 9000))
    history.stored_in(tmp_path / "store", "east")
    store = ("--store", str(tmp_path / "store"), "--until", "2026-03-01T14:30")
    text = "note: __consumer_offsets-1 was read until 2026-03-01T12:00:00.000Z: its groups are unknown since then"
    for command, code in ((("show", "commits"), 1), (("rebalances",), 1), (("stale",), 0), (("show", "heads"), 0)):
        found = run_cli("history", *command, *store)
        assert (found.code, text in found.err, "__consumer_offsets-0" in found.err) == (
            code,
            command[-1] != "heads",
            False,
        )


@pytest.fixture(scope="module")
def two_clusters(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with two clusters; each has a group of its own."""
    folder = tmp_path_factory.mktemp("clusters") / "store"
    for cluster in ("east", "west"):
        history = History()
        history.commit(f"only-{cluster}", 0, 1)
        history.read(0, (0, 1), 1, (0, 0))
        history.stored_in(folder, cluster)
    return str(folder)


@pytest.mark.parametrize("command", [("show", "commits"), ("lag",), ("rebalances",), ("stale",)])
@pytest.mark.parametrize("output", ["plain", "csv", "json", "jsonl"])
def test_group_that_the_store_has_never_seen_is_a_failure(
    command: tuple[str, ...], output: str, location: str, run_cli: Callable[..., Ran]
) -> None:
    found = run_cli("history", *command, "--store", location, "--group", "ordrs", "-q", "-o", output)
    assert found.code == 1
    assert found.err.splitlines() == [
        "kgroups: group 'ordrs': the store has no history of this group",
        "kgroups: hint: did you mean 'orders'?",
    ]
    if output == "json":
        (failure,) = json.loads(found.out)["failures"]
        assert (failure["scope"], failure["name"], failure["reason"]) == ("group", "ordrs", "group_not_found")


def test_other_groups_are_shown_if_one_does_not_exist(location: str, run_cli: Callable[..., Ran]) -> None:
    groups = ("--group", "orders", "--group", "nope")
    found = run_cli("history", "stale", "--store", location, *groups, "--columns", "group", "--no-headers")
    assert (found.code, found.out.split()) == (1, ["orders"])


def test_topic_that_the_store_has_never_seen_is_a_failure(location: str, run_cli: Callable[..., Ran]) -> None:
    found = run_cli("history", "lag", "--store", location, "--topic", "nope", "-q")
    assert (found.code, found.err) == (1, "kgroups: topic 'nope': the store has no history of this topic\n")


def test_glob_names_the_groups_that_match(location: str, run_cli: Callable[..., Ran]) -> None:
    found = run_cli("history", "stale", "--store", location, "--group", "ord*", "-q")
    assert (found.code, "--group takes names, not globs; matching names: orders" in found.err) == (1, True)
    found = run_cli("history", "stale", "--store", location, "--group", "x*", "-q")
    assert (found.code, "--group takes names, not globs; none matches" in found.err) == (1, True)


def test_known_group_without_rows_is_a_note(location: str, run_cli: Callable[..., Ran]) -> None:
    found = run_cli("history", "rebalances", "--store", location, "--group", "payments")
    assert (found.code, "note: table rebalances has no selected rows of group payments" in found.err) == (0, True)


def test_group_of_one_of_several_clusters_is_no_failure(two_clusters: str, run_cli: Callable[..., Ran]) -> None:
    both = ("history", "stale", "--store", two_clusters, "--all-clusters", "-q")
    assert run_cli(*both, "--group", "only-east")[::2] == (0, "")
    assert run_cli(*both, "--group", "nope").code == 1


def test_unknown_cluster_names_those_of_the_store(two_clusters: str, run_cli: Callable[..., Ran]) -> None:
    found = run_cli("history", "stale", "--store", two_clusters, "--cluster", "est")
    assert (found.code, found.out) == (1, "")
    assert "holds no history of cluster est\nkgroups: hint: it has: east, west" in found.err


def test_json_has_the_id_of_the_only_cluster(location: str, two_clusters: str, run_cli: Callable[..., Ran]) -> None:
    for command in (("show", "commits"), ("lag",), ("rebalances",), ("stale",), ("sql", "select 1 as a")):
        for store, expected in (
            (("--store", location), "east"),
            (("--store", location, "--all-clusters"), "east"),
            (("--store", two_clusters, "--cluster", "west"), "west"),
            (("--store", two_clusters, "--all-clusters"), None),
        ):
            found = run_cli("history", *command, *store, "-o", "json")
            assert json.loads(found.out)["cluster_id"] == expected
