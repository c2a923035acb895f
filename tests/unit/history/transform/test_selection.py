"""What the options of a query select; what a table cannot be filtered by is an error."""

from __future__ import annotations

from collections.abc import Callable

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
