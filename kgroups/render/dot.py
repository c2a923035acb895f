"""Write waves as a graph in the DOT language of Graphviz.

A name is a quoted string, in which only the quotation mark ends the string. In labels, Graphviz also interprets
backslashes and HTML entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from kgroups.model.views.wave_rows import Waves, links_by_wave
from kgroups.model.visible import escape
from kgroups.model.waves import Item, Kind, Link

from .output import EMPTY_NAME

_SHAPES = {Kind.GROUP: "box", Kind.TOPIC: "ellipse", Kind.PRODUCER: "hexagon"}


def write_dot(found: Waves, stream: TextIO) -> None:
    """Write an undirected graph: a cluster for each wave, and dashed edges for inferred links."""
    stream.writelines(f"{line}\n" for line in _lines(found))


def _lines(found: Waves) -> Iterator[str]:
    ids: dict[Item, str] = {}
    yield "graph waves {"
    yield "  node [fontname=Helvetica];"
    for wave in found.waves:
        cut = wave.cut.item if wave.cut else None
        yield f"  subgraph cluster_{wave.number} {{"
        yield f'    label="wave {wave.number}";'
        for item in wave.items:
            ids[item] = f"n{len(ids)}"
            bold = ", style=bold" if item == cut else ""
            yield f"    {ids[item]} [label={quoted(item.name or EMPTY_NAME)}, shape={_SHAPES[item.kind]}{bold}];"
        yield "  }"
    for _, (first, second), why in links_by_wave(found):
        style = ", style=dashed" if why == {Link.INFERRED} else ""
        label = ", ".join(each.value for each in Link if each in why)
        yield f"  {ids[first]} -- {ids[second]} [label={quoted(label)}{style}];"
    yield "}"


def quoted(name: str) -> str:
    """Return a name as a label that Graphviz shows unchanged, with unprintable characters escaped."""
    text = escape(name).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{text}"'
