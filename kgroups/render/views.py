"""Define views: tables as data, their columns with the Java tool's headers, and their order.

The key of a column is the field of its row, and its name in JSON, CSV, ``--columns`` and ``--sort``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, IntEnum
from operator import itemgetter
from typing import Any, NamedTuple

from kgroups.model.assignment import Raw

Row = tuple[object, ...]


class Tier(IntEnum):
    """Level of detail of a text table; each tier includes the earlier tiers.

    ``RARE`` columns apply to some group types only, and are shown if they have values. ``ASKED`` columns require
    additional requests, and are shown only if an option or ``--columns`` selects them.
    """

    BASE = 0
    VERBOSE = 1
    WIDE = 2
    RARE = 3
    ASKED = 4


class Align(Enum):
    LEFT = "left"
    RIGHT = "right"


class Sooner(NamedTuple):
    """Condition on which a column is shown from a lower ``tier`` on: ``when`` is true for its values."""

    tier: Tier
    when: Callable[[Iterable[object]], bool]


def _not_in_a_row(row: Any) -> Any:
    raise AssertionError("a column of a view has a row type")


class Column(NamedTuple):
    """One column.

    ``doc`` is its meaning, in the JSON Schema of the view. A text after ``Null:`` is omitted if its values are never
    null. ``value`` returns the field of a row unchanged and hashable; writers format it. It selects by position, so
    that it also works on transposed rows. ``row``: the named tuple that declares the field.
    ``order``: returns what a value is sorted by, if not itself. ``style``: returns the style of a value on a terminal,
    if it is not that of all columns with this key.
    """

    header: str
    key: str
    doc: str = ""
    align: Align = Align.LEFT
    tier: Tier = Tier.BASE
    sooner: Sooner | None = None
    value: Callable[[Any], Any] = _not_in_a_row
    row: type[Any] | None = None
    order: Callable[[Any], Any] | None = None
    style: Callable[[Any], str] | None = None

    def at(self, tier: Tier, sooner: Sooner | None = None) -> Column:
        """Return the column on another level of detail."""
        return self._replace(tier=tier, sooner=sooner)


class View(NamedTuple):
    """The columns and the order of a table.

    ``sort_key`` sorts only by group: within a group the model has sorted the rows, and the sort is stable. With
    ``bare_alone``, plain text of a single column has no header.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    sort_key: Callable[[Any], Any] = itemgetter(0)
    bare_alone: bool = False
    drops: tuple[str, ...] = ()
    """The columns that a narrow terminal omits, first the first. The other IDs and numbers are then never folded."""


def some_value(values: Iterable[object]) -> bool:
    return bool(set(values) - {None})


def some_above_zero(values: Iterable[Any]) -> bool:
    return any(value is not None and value > 0 for value in values)


def some_true(values: Iterable[object]) -> bool:
    return any(value is True for value in values)


def some_raw(values: Iterable[object]) -> bool:
    return any(isinstance(value, Raw) for value in values)


def both_true_and_false(values: Iterable[object]) -> bool:
    return {True, False} <= set(values)


def columns_of(row: type[Any], *columns: Column, first: int = 0) -> tuple[Column, ...]:
    """Return the columns of a view.

    :param row: type of its rows, a named tuple.
    :param first: number of fields before those of the named tuple in its rows.
    """
    # itemgetter by position: writers map it over 100,000 rows without running Python code
    return tuple(
        column._replace(value=itemgetter(first + row._fields.index(column.key)), row=row) for column in columns
    )


def _header(key: str) -> str:
    return "CLUSTER" if key == "cluster_id" else key.upper().replace("_", "-")


def view_of(name: str, columns: Iterable[tuple[str, bool]]) -> View:
    """Return a view of rows that are already sorted.

    :param columns: pairs of key and whether it is right-aligned.
    """
    view_columns = tuple(
        Column(_header(key), key, align=Align.RIGHT if right else Align.LEFT, value=itemgetter(at))
        for at, (key, right) in enumerate(columns)
    )
    return View(name, name, view_columns, sort_key=lambda row: 0)


_MOST = 1_000
"""More than a row has fields."""


def with_cluster(view: View) -> View:
    """Return the view for rows that have the name of the cluster before their first field."""
    columns = tuple(
        column._replace(value=itemgetter(column.value(range(_MOST)) + 1))  # the value of a position is the position
        for column in view.columns
    )
    return view._replace(
        columns=(Column("CLUSTER", "cluster", value=itemgetter(0)), *columns),
        sort_key=lambda row: (row[0], view.sort_key(row[1:])),
    )
