"""Select the columns of a view, and sort its rows."""

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
    """Return the columns of a text table: of the tier, the ``extra`` keys, and columns that ``rows`` require."""
    if unknown := set(extra) - {column.key for column in view.columns}:
        raise ValueError(f"no such column in view {view.name}: {', '.join(sorted(unknown))}")
    return tuple(column for column in view.columns if column.key in extra or _shown(column, tier, rows))


def _shown(column: Column, tier: Tier, rows: Collection[Row]) -> bool:
    if column.tier <= tier:
        return True
    sooner = column.sooner
    return sooner is not None and sooner.tier <= tier and sooner.when(map(column.value, rows))


def select_columns(view: View, names: str | Iterable[str]) -> tuple[Column, ...]:
    """Return the columns of ``--columns``, named by header or key in any case, in that order, without duplicates.

    :raises UsageError: if a name is not a column of the view.
    """
    requested = names.split(",") if isinstance(names, str) else names
    return tuple(dict.fromkeys(_column_named(view, name, "--columns") for name in requested))


def named_keys(view: View, *specs: str | None) -> set[str]:
    """Return the keys of the columns that ``--columns`` or ``--sort`` name; names of other columns are ignored."""
    names = {_folded(name.strip().removeprefix("-")) for spec in specs for name in (spec or "").split(",")}
    return {column.key for column in view.columns if names & {_folded(column.key), _folded(column.header)}}


def sort_rows(rows: Iterable[R], view: View, spec: str | None) -> list[R]:
    """Return the rows sorted by ``--sort lag,-current_offset``; ``-`` is descending; default: the order of the view.

    Stable. Rows without a value come last in both directions: unknown is neither small nor large.

    :raises UsageError: if the spec names a column that is not in the view.
    """
    ordered = sorted(rows, key=view.sort_key)
    if spec is None:
        return ordered
    for column, descending in reversed(_sort_columns(view, spec)):
        known = [row for row in ordered if column.value(row) is not None]
        unknown = [row for row in ordered if column.value(row) is None]
        known.sort(key=_comparable(column), reverse=descending)
        ordered = known + unknown
    return ordered


def _sort_columns(view: View, spec: str) -> Sequence[tuple[Column, bool]]:
    names = [name.strip() for name in spec.split(",")]
    return [(_column_named(view, name.removeprefix("-"), "--sort"), name.startswith("-")) for name in names]


def _comparable(column: Column) -> Callable[[Row], Any]:
    def key(row: Row) -> Any:
        raw = column.value(row)
        if column.order is not None:
            return column.order(raw)
        # assignments and subscriptions are sorted by their text
        return raw if isinstance(raw, int | float | str | Node) else str(raw)

    return key


def _column_named(view: View, name: str, option: str) -> Column:
    folded = _folded(name)
    for column in view.columns:
        if folded in (_folded(column.key), _folded(column.header)):
            return column
    known = ", ".join(column.key for column in view.columns)
    raise UsageError(f"{option}: unknown column {name.strip()!r}; use {known}")


def _folded(name: str) -> str:
    return name.strip().casefold().replace("-", "_")
