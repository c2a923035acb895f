"""Properties of every derived table."""

from __future__ import annotations

import random

import pytest

from kgroups.history.arrow import arrow_schema
from kgroups.history.engine import derive
from kgroups.history.engine.duck import DuckDB
from kgroups.history.rules import Rules
from kgroups.history.tables import STORED
from kgroups.history.transform.definitions import DERIVED, Span, relations, stored_tables
from tests.fakes.group_protocol import END, START, RandomGroups
from tests.fakes.history import NOON, RULES, SPAN, History, at, derived_in, ordered

GENERATED = Span(at(START), at(END))


def test_every_derived_table_has_a_definition() -> None:
    assert set(DERIVED) <= set(relations(DERIVED))
    assert not DERIVED.keys() & {table.name for table in STORED}
    assert stored_tables(["retention"]) == [table for table in STORED if table.name == "sweeps"]


@pytest.mark.parametrize("name", DERIVED)
def test_derived_table_of_no_rows_has_its_schema(name: str) -> None:
    with DuckDB() as engine:
        derived_in(engine, History(), [name], SPAN, Rules())
        found = engine.fetch(f"select * from {name}")
    assert found.num_rows == 0
    assert found.schema.names == DERIVED[name].names
    assert found.cast(arrow_schema(DERIVED[name])).num_rows == 0


def test_derived_tables_do_not_depend_on_row_placement() -> None:
    history = RandomGroups(seed=20260304, logs=12, groups=10, actions=60).history
    with DuckDB() as other, DuckDB() as engine:
        expected = derived_in(other, history, DERIVED, GENERATED, RULES)
        for table in STORED:
            rows = history.arrow()[table.name]
            order = random.Random(7).sample(range(len(rows)), len(rows))
            engine.load_arrow(table, rows.take(order) if order else rows)
        derive(engine, DERIVED, GENERATED, RULES)
        for name in DERIVED:
            found = ordered(engine.fetch(f"select * from {name}").to_pylist())
            assert found == expected(name)
        assert expected("lag") and expected("rebalances")


def test_naive_datetime_is_rejected() -> None:
    with DuckDB() as engine, pytest.raises(ValueError, match="without a zone: 2026-03-01 12:00:00"):
        derive(engine, ["lag"], Span(NOON.replace(tzinfo=None), at(1)), Rules())
