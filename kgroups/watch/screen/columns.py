"""Columns of text, aligned within the width of the terminal, and numbers as sparklines."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from kgroups.render.cells import escape

GAP = 2
_LEFT = frozenset({"TOPIC", "MEMBER", "CLIENT-ID", "HOST", "CLUSTER"})
_OMITTED_FIRST = (
    *("MEMBER", "LAG HISTORY", "IN/S", "OUT/S", "LOG-END", "COMMITTED", "HEADROOM", "HOST", "CLIENT-ID"),
    *("OTHER-STATE", "REBALANCING", "EMPTY", "STABLE", "UNKNOWN-LAG", "WARNING"),
)
"""Columns to omit on a narrow terminal, in this order."""
_SHORTENED = "TOPIC"
MIN_NAME = 24
"""Width to which names are shortened before columns are omitted."""


def aligned(cells: Sequence[tuple[str, ...]], width: int) -> Generator[str, None, list[str]]:
    """Yield the lines of a table, the header first; return the headers of the columns that do not fit."""
    columns = list(zip(*cells, strict=True))
    sizes = {column[0]: max(map(cell_len, column)) for column in columns}
    name = sizes.get(_SHORTENED, 0)
    omitted = []

    def rest() -> int:
        """Return the width that remains for the names of topics, or without these, what is not used."""
        return width - sum(sizes.values()) - GAP * (len(sizes) - 1) + name

    for header in _OMITTED_FIRST:
        if rest() >= min(name, MIN_NAME):
            break
        if sizes.pop(header, None) is not None:
            omitted.append(header)
    if name:
        sizes[_SHORTENED] = max(1, min(name, rest()))
    kept = [column for column in columns if column[0] in sizes]
    for line in zip(*kept, strict=True):
        sized = zip(line, sizes.items(), strict=True)
        yield "".join(pad(text, size, header not in _LEFT) for text, (header, size) in sized).rstrip()
    return omitted


def pad(text: str, width: int, right: bool) -> str:
    """Return a cell with the gap after it."""
    text = cut(text, width)
    blank = " " * (width - cell_len(text))
    return (blank + text if right else text + blank) + " " * GAP


def cut(text: str, width: int) -> str:
    """Return a text that fits into the width."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


_WORD = re.compile(r"""(?:\$'(?:\\.|[^'])*'|'[^']*'|"[^"]*"|[^\s'"])+""")


_OPTION = re.compile(r"--?[a-zA-Z][\w-]*")


def command_lines(command: str, width: int) -> Iterator[str]:
    """Yield a command as lines that can be pasted into a shell: they end with a backslash between two words.

    An option remains with its value, if both fit into a line.
    """
    parts: list[str] = []
    for word in _WORD.findall(command):
        if parts and _OPTION.fullmatch(parts[-1]) and word[0] != "-" and cell_len(parts[-1] + word) + 5 <= width:
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    line = ""
    for part in parts:
        if line and cell_len(line) + cell_len(part) + 3 > width:
            yield f"{line} \\"
            line = f"  {part}"
        else:
            line = f"{line} {part}" if line else part
    yield line


def cell_text(value: str | int | None) -> str:
    """Return the text of a cell; - if the value is unknown."""
    if value is None:
        return "-"
    return escape(value) if isinstance(value, str) else f"{value:,}"


_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-=^"


def sparkline(values: Sequence[int | None], width: int, *, ascii_only: bool = False) -> str:
    """Return the newest ``width`` values as blocks, scaled from 0 to the largest; a blank for an unknown value."""
    shown = values[-width:]
    top = max((value for value in shown if value is not None), default=0)
    blocks = _ASCII if ascii_only else _BLOCKS
    return "".join(" " if value is None else _block(value, top, blocks) for value in shown).rjust(width)


def _block(value: int, top: int, blocks: str) -> str:
    if value <= 0 or top <= 0:
        return blocks[0]
    return blocks[(value * (len(blocks) - 1) + top // 2) // top]
