"""Render numbers as sparklines."""

from __future__ import annotations

from collections.abc import Sequence

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
