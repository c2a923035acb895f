"""Properties of every derived table."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from kgroups.pipeline.engine import derive
from kgroups.pipeline.engine.duck import DuckDB
from kgroups.pipeline.rules import Rules
from kgroups.pipeline.tables import STORED, arrow_schema
from kgroups.pipeline.transform.definitions import DERIVED, Span, relations, stored_tables
from tests.fakes.history import NOON, RULES, SPAN, History, Row, at, derived_in, ordered


def test_every_derived_table_has_a_definition() -> None:
    assert set(DERIVED) <= set(relations(DERIVED))
    assert not DERIVED.keys() & {table.name for table in STORED}
    assert stored_tables(relations(["retention"]).values()) == [table for table in STORED if table.name == "sweeps"]


@pytest.mark.parametrize("name", DERIVED)
def test_derived_table_of_no_rows_has_its_schema(name: str) -> None:
    with DuckDB() as engine:
        derived_in(engine, History(), [name], SPAN, Rules())
        found = engine.fetch(f"select * from {name}")
    assert found.num_rows == 0
    assert found.schema.names == DERIVED[name].names
    assert found.cast(arrow_schema(DERIVED[name])).num_rows == 0


def test_derived_tables_do_not_depend_on_row_placement(history: History, derived: Callable[[str], list[Row]]) -> None:
    with DuckDB() as engine:
        for table in STORED:
            rows = history.arrow()[table.name]
            order = random.Random(7).sample(range(len(rows)), len(rows))
            engine.load_arrow(table, rows.take(order) if order else rows)
        derive(engine, DERIVED, SPAN, RULES)
        for name in DERIVED:
            found = ordered(engine.fetch(f"select * from {name}").to_pylist())
            assert found and found == derived(name)


def test_naive_datetime_is_rejected() -> None:
    with DuckDB() as engine, pytest.raises(ValueError, match="without a zone: 2026-03-01 12:00:00"):
        derive(engine, ["lag"], Span(NOON.replace(tzinfo=None), at(1)), Rules())
