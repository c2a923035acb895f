"""Which columns of a view are shown, and in which order its rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

from kgroups.errors import UsageError
from kgroups.model.cluster import Node

from .views import Column, Row, Tier, View

R = TypeVar("R", bound=Row)


def columns_for(
    view: View,
    tier: Tier = Tier.BASE,
    extra: Collection[str] = (),
    rows: Collection[Row] = (),
) -> tuple[Column, ...]:
    """The columns of a text table: those of the tier, the ``extra`` keys, and those that these ``rows`` call for."""
    if unknown := set(extra) - {column.key for column in view.columns}:
        raise ValueError(f"no such column in view {view.name}: {', '.join(sorted(unknown))}")
    return tuple(column for column in view.columns if column.key in extra or _shown(column, tier, rows))


def _shown(column: Column, tier: Tier, rows: Collection[Row]) -> bool:
    if column.tier <= tier:
        return True
    sooner = column.sooner
    return sooner is not None and sooner.tier <= tier and sooner.when(map(column.value, rows))


def select_columns(view: View, names: str | Iterable[str]) -> tuple[Column, ...]:
    """The columns that ``--columns`` names by header or key, in any case, in the order given; each once.

    :raises UsageError: when a name is no column of the view.
    """
    wanted = names.split(",") if isinstance(names, str) else names
    return tuple(dict.fromkeys(_column_named(view, name, "--columns") for name in wanted))


def sort_rows(rows: Iterable[R], view: View, spec: str | None) -> list[R]:
    """The rows as ``--sort lag,-current_offset`` asks; ``-`` is descending; without a spec, the view's own order.

    Stable. Rows without a value come last in both directions: unknown is neither small nor large.

    :raises UsageError: when the spec names no column of the view.
    """
    ordered = sorted(rows, key=view.sort_key)
    if spec is None:
        return ordered
    for column, descending in reversed(_sort_columns(view, spec)):
        known = [row for row in ordered if column.value(row) is not None]
        unknown = [row for row in ordered if column.value(row) is None]
        known.sort(key=_comparable(column.value), reverse=descending)
        ordered = known + unknown
    return ordered


def _sort_columns(view: View, spec: str) -> Sequence[tuple[Column, bool]]:
    names = [name.strip() for name in spec.split(",")]
    return [(_column_named(view, name.removeprefix("-"), "--sort"), name.startswith("-")) for name in names]


def _comparable(value: Callable[[Row], object]) -> Callable[[Row], Any]:
    def key(row: Row) -> Any:
        raw = value(row)
        # Assignments and subscriptions have no order of their own; their text has one.
        return raw if isinstance(raw, int | float | str | Node) else str(raw)

    return key


def _column_named(view: View, name: str, option: str) -> Column:
    wanted = _folded(name)
    for column in view.columns:
        if wanted in (_folded(column.key), _folded(column.header)):
            return column
    known = ", ".join(column.key for column in view.columns)
    raise UsageError(f"{option}: there is no column {name.strip()!r} in this view; the columns are {known}")


def _folded(name: str) -> str:
    return name.strip().casefold().replace("-", "_")
