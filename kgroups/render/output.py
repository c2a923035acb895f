"""Write an outcome in a view and a format: the entry point of this package.

:mod:`kgroups.render.failures` writes failures to stderr; only the JSON envelope also contains them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

from kgroups.model.outcome import Failure, Outcome

from .named import NAMED_FORMATS
from .selection import columns_for, named_keys, select_columns, sort_rows
from .table import RowStore, Table
from .views import Column, Row, Tier, View

if TYPE_CHECKING:
    from kgroups.model.permissions import Acl

R = TypeVar("R", bound=Row)


class _Job(NamedTuple):
    table: Table
    stream: TextIO
    fmt: str
    width: int | None
    cluster_id: str | None
    failures: tuple[Failure, ...]
    notices: tuple[str, ...]
    missing: tuple[Acl, ...]
    more: Mapping[str, object]
    group_headers: Mapping[str, Sequence[str]] | None


class _Writer(NamedTuple):
    """A function that is imported on demand: rich, tabulate, json, and csv take longer than a small command."""

    module: str
    name: str
    arguments: Callable[[_Job], tuple[Any, ...]]

    def write(self, job: _Job) -> tuple[str, ...]:
        """Write the table; return the columns that are omitted to fit the terminal."""
        omitted: tuple[str, ...] | None = getattr(import_module(f"kgroups.render.{self.module}"), self.name)(
            *self.arguments(job)
        )
        return omitted or ()


def _rows(job: _Job) -> tuple[Any, ...]:
    return job.table, job.stream


def _envelope(job: _Job) -> tuple[Any, ...]:
    return job.table, job.stream, job.cluster_id, job.failures, job.notices, job.missing, job.more


_WRITERS = {
    "table": _Writer("terminal", "write_terminal", lambda job: (*_rows(job), job.width, job.group_headers)),
    "plain": _Writer("plain", "write_plain", _rows),
    "json": _Writer("jsonout", "write_json", _envelope),
    "jsonl": _Writer("jsonout", "write_jsonl", _rows),
    "csv": _Writer("csvout", "write_csv", _rows),
    **dict.fromkeys(NAMED_FORMATS, _Writer("named", "write_named", lambda job: (*_rows(job), job.fmt))),
}
_DATA_FORMATS = frozenset({"json", "jsonl", "csv"})

FORMATS = tuple(_WRITERS)
"""The values of ``--output``, except ``auto``, which the caller resolves."""


EMPTY_NAME = "''"
"""Text for the empty group name, which brokers before Kafka 2.5 allow; ``-`` means that there is no name."""


def _with_empty_name(column: Column) -> Column:
    """Return the column with a visible empty name. Its ``value`` takes a row, or a sequence of columns."""
    value = column.value

    def shown(rows: Any) -> Any:
        found = value(rows)
        if isinstance(found, str | None):
            return EMPTY_NAME if found == "" else found
        return [EMPTY_NAME if name == "" else name for name in found] if "" in found else found

    return column._replace(value=shown)


def write_outcome(
    outcome: Outcome[R],
    view: View,
    *,
    fmt: str,
    stream: TextIO,
    tier: Tier = Tier.BASE,
    extra: Collection[str] = (),
    columns: str | Iterable[str] | None = None,
    sort: str | None = None,
    headers: bool = True,
    cluster_id: str | None = None,
    width: int | None = None,
    more: Mapping[str, object] = MappingProxyType({}),
    group_headers: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, ...]:
    """Write the items, sorted. The items of a :class:`RowStore` are already in the order of the view.

    :param tier: for text formats only, like ``extra``: JSON and CSV contain all columns of the view, whatever the rows
        contain, unless ``columns`` selects some, so that scripts can rely on them.
    :param more: additional keys of the JSON envelope.
    :param group_headers: group -> the parts of its header, for a table whose columns the user did not choose.
    :return: the headers of the columns that a narrow terminal omits.
    :raises UsageError: if ``columns`` or ``sort`` names a column that is not in the view.
    """
    items: Iterable[R] | RowStore = outcome.items
    stored = items if isinstance(items, RowStore) and sort is None else None
    rows: list[Any] = [] if stored else sort_rows(items, view, sort)
    if columns is None and fmt in _DATA_FORMATS:
        chosen = view.columns
    elif columns is None:
        chosen = columns_for(view, tier, extra, rows=stored.representatives() if stored else rows)
    else:
        chosen = select_columns(view, columns)
    if fmt not in _DATA_FORMATS:
        chosen = tuple(_with_empty_name(column) if column.key == "group" else column for column in chosen)
    bare = fmt == "plain" and view.bare_alone and len(chosen) == 1
    fixed = columns is not None or tier is Tier.WIDE
    asked = {column.key for column in chosen} if fixed else {*extra, *named_keys(view, sort)}
    table = Table(view, chosen, stored or rows, headers and not bare, asked)
    missing = tuple(outcome.missing_acls())
    if fixed or sort is not None:
        group_headers = None
    job = _Job(table, stream, fmt, width, cluster_id, outcome.failures, outcome.notices, missing, more, group_headers)
    return _WRITERS[fmt].write(job)
