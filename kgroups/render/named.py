"""Tables for documents: the formats of ``tabulate``, by its names.

Slow (0.05 to 0.2 ms a row, all in memory): for what a person pastes somewhere, not for 100,000 rows. East Asian
text lines up only where ``wcwidth`` is installed too, which tabulate then uses.
"""

from __future__ import annotations

from typing import TextIO

from kgroups.errors import UsageError

from .cells import cell_text
from .markup import WRITTEN
from .table import Table
from .views import Align

NAMED_FORMATS = (
    "asciidoc",
    "colon_grid",
    "double_grid",
    "double_outline",
    "fancy_grid",
    "fancy_outline",
    "github",
    "grid",
    "heavy_grid",
    "heavy_outline",
    "html",
    "jira",
    "latex",
    "latex_booktabs",
    "latex_longtable",
    "mediawiki",
    "mixed_grid",
    "mixed_outline",
    "moinmoin",
    "orgtbl",
    "outline",
    "pipe",
    "presto",
    "pretty",
    "psql",
    "rounded_grid",
    "rounded_outline",
    "rst",
    "simple",
    "simple_grid",
    "simple_outline",
    "textile",
    "tsv",
    "youtrack",
)
"""Written down, so that options are checked without importing tabulate."""

NOT_OFFERED = frozenset({"plain", "unsafehtml", "latex_raw"})
"""``plain`` is ours; the other two let a group's name become markup."""


def write_named(table: Table, stream: TextIO, fmt: str) -> None:
    """:raises UsageError: when the tabulate that is installed is too old to know the format."""
    import tabulate

    if fmt not in tabulate.tabulate_formats:
        raise UsageError(f"--output {fmt}: the installed tabulate {tabulate.__version__} does not have it")
    cells = [[_text(column.value(row), fmt) for column in table.columns] for row in table.rows]
    aligned = fmt != "tsv"
    text = tabulate.tabulate(
        cells,
        headers=[column.header for column in table.columns] if table.headers else (),
        tablefmt=fmt,
        disable_numparse=True,
        # tabulate takes alignments only for columns that it sees in some row.
        colalign=[_align(column.align) for column in table.columns] if aligned and cells else None,
        stralign="left" if aligned else None,
    )
    stream.write(str(text) + "\n")


def _text(value: object, fmt: str) -> str:
    text = cell_text(value)
    return WRITTEN[fmt](text) if fmt in WRITTEN and isinstance(value, str) else text


def _align(align: Align) -> str:
    return "right" if align is Align.RIGHT else "left"
