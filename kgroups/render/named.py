"""Write tables for documents, in the formats of ``tabulate``.

Slow (0.05 to 0.2 ms per row, all in memory): for tables to paste, not for 100,000 rows. East Asian text is aligned only
if ``wcwidth`` is installed, which tabulate then uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from kgroups.errors import UsageError

from .cells import cell_text
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
"""Listed here so that options are validated without importing tabulate."""

NOT_OFFERED = frozenset({"plain", "unsafehtml", "latex_raw"})
"""kgroups has its own ``plain``; the other two do not escape markup in names."""


def write_named(table: Table, stream: TextIO, fmt: str) -> None:
    """Write the table in a format of tabulate.

    :raises UsageError: if the installed version of tabulate does not support the format.
    """
    import tabulate

    from .markup import ESCAPES

    if fmt not in tabulate.tabulate_formats:
        raise UsageError(f"--output {fmt}: the installed tabulate {tabulate.__version__} does not have it")
    escape = ESCAPES.get(fmt, str)
    cells = [[_text(column.value(row), escape) for column in table.columns] for row in table.rows]
    is_aligned = fmt != "tsv"
    text = tabulate.tabulate(
        cells,
        headers=[column.header for column in table.columns] if table.headers else (),
        tablefmt=fmt,
        disable_numparse=True,
        # tabulate accepts alignments only for columns that occur in a row
        colalign=[_align(column.align) for column in table.columns] if is_aligned and cells else None,
        stralign="left" if is_aligned else None,
    )
    stream.write(str(text) + "\n")


def _text(value: object, escape: Callable[[str], str]) -> str:
    text = cell_text(value)
    return escape(text) if isinstance(value, str) else text


def _align(align: Align) -> str:
    return "right" if align is Align.RIGHT else "left"
