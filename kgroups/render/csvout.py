"""Write CSV: keys as the header, an empty cell for a missing value, ``\\n`` after each line.

Unprintable characters are escaped reversibly (see :func:`kgroups.model.visible.escape`), so that different names look
different. Durations are numbers of milliseconds, as in JSON. Names that start with ``=`` or ``+`` are unchanged: the
data is for programs, not for spreadsheets.
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
    types = set(map(type, values)) - {type(None)}
    if Milliseconds in types:
        return [None if value is None else int(value) for value in values]
    # the csv module itself writes numbers, plain strings and None in the required form
    if types <= {int} or (types == {str} and all(map(is_plain, filter(None, values)))):
        return values
    return map(value_text, values)
