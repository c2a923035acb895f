"""CSV: keys as the header, an empty cell for absent, ``\\n`` after each line, unprintable characters escaped.

Escapes can be read back, as :func:`kgroups.model.visible.escape` says: no two names look the same.

A span of time is a number, of milliseconds, as in JSON.
Names that begin with ``=`` or ``+`` stay as they are: this is data for programs, not a spreadsheet.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from kgroups.model.duration import Milliseconds
from kgroups.model.visible import is_plain

from .cells import value_text
from .table import Table


def write_csv(table: Table, stream: TextIO) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    if table.headers:
        writer.writerow([column.key for column in table.columns])
    for columns in table.chunks():
        writer.writerows(zip(*map(_cells, columns), strict=True))


def _cells(values: Sequence[Any]) -> Iterable[object]:
    kinds = set(map(type, values)) - {type(None)}
    if Milliseconds in kinds:
        return [None if value is None else int(value) for value in values]
    # The csv module itself writes numbers, strings and None as we want them.
    if kinds <= {int} or (kinds == {str} and all(map(is_plain, filter(None, values)))):
        return values
    return map(value_text, values)
