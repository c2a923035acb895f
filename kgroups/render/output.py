"""Write an outcome in a view and a format: the entry point of this package.

:mod:`kgroups.render.failures` writes failures to stderr; only the JSON envelope also contains them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar

from kgroups.model.outcome import Failure, Outcome

from .named import NAMED_FORMATS
from .selection import columns_for, select_columns, sort_rows
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


# Each writer is imported on demand: importing rich, tabulate, json or csv takes longer than a small command.


def _table(job: _Job) -> tuple[str, ...]:
    from .terminal import write_terminal

    return write_terminal(job.table, job.stream, job.width, job.group_headers)


def _plain(job: _Job) -> None:
    from .plain import write_plain

    write_plain(job.table, job.stream)


def _json(job: _Job) -> None:
    from .jsonout import write_json

    write_json(job.table, job.stream, job.cluster_id, job.failures, job.notices, job.missing, job.more)


def _jsonl(job: _Job) -> None:
    from .jsonout import write_jsonl

    write_jsonl(job.table, job.stream)


def _csv(job: _Job) -> None:
    from .csvout import write_csv

    write_csv(job.table, job.stream)


def _named(job: _Job) -> None:
    from .markup import ESCAPES
    from .named import write_named

    write_named(job.table, job.stream, job.fmt, ESCAPES.get(job.fmt, str))


_WRITERS: dict[str, Callable[[_Job], tuple[str, ...] | None]] = {
    "table": _table,
    "plain": _plain,
    "json": _json,
    "jsonl": _jsonl,
    "csv": _csv,
    **dict.fromkeys(NAMED_FORMATS, _named),
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
    table = Table(view, chosen, stored or rows, headers and not bare, fixed)
    missing = tuple(outcome.missing_acls())
    if fixed or sort is not None:
        group_headers = None
    job = _Job(table, stream, fmt, width, cluster_id, outcome.failures, outcome.notices, missing, more, group_headers)
    return _WRITERS[fmt](job) or ()
