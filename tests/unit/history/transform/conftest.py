"""One history that the tests of derived tables look at.

A test module writes its part of that history in a function ``scene``; its groups have names of their own. Each derived
table is computed once, for everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kgroups.history.engine.duck import DuckDB
from kgroups.history.transform.definitions import DERIVED
from tests.fakes.history import RULES, SPAN, History, Row, derived_in, hours, ordered

Show = Callable[..., list[Row]]


@pytest.fixture(scope="session")
def history(request: pytest.FixtureRequest) -> History:
    """The history that the scenes of the selected test modules write."""
    modules = {item.module for item in request.session.items if isinstance(item, pytest.Function)}
    written = History()
    _read(written)
    for module in sorted(modules, key=lambda module: str(module.__name__)):
        if hasattr(module, "scene"):
            module.scene(written)
    return written


def _read(history: History) -> None:
    """Write which ranges were read of the partitions of the log that several modules use."""
    history.read(0, (0, 5000), 4900, (hours(-200), 599))
    # Compacted; then whole, with ranges too small to be judged, one of them nothing but markers.
    history.read(1, (0, 1000), 40, (-400, 100))
    history.read(1, (1000, 1010), 5, (150, 160))
    history.read(1, (1010, 1012), 0, (165, 165))
    history.read(1, (1012, 1500), 480, (170, 190), high_watermark=1507)


@pytest.fixture(scope="session")
def derived(history: History) -> Iterator[Callable[[str], list[Row]]]:
    """Return the sorted rows of a derived table."""
    with DuckDB() as engine:
        yield derived_in(engine, history, DERIVED, SPAN, RULES)


@pytest.fixture(scope="session")
def show(derived: Callable[[str], list[Row]]) -> Show:
    """Some columns of some rows: ``show("lag", "lag", "remark", group="g")``; of one column its values.
    In their order, null first."""

    def shown(name: str, *columns: str, **where: Any) -> list[Any]:
        found = [row for row in derived(name) if all(row[column] == value for column, value in where.items())]
        chosen = ordered([{column: row[column] for column in columns} for row in found])
        return [next(iter(row.values())) if len(columns) == 1 else tuple(row.values()) for row in chosen]

    return shown
