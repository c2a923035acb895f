"""Whether the contenders gave the same answer. Speed of a wrong answer is not worth a table.

Each reader gives the rows of one tool's output in one form; a digest that does not mind their order is compared.
Files are read line by line: what this process once held would count in the peak memory of all children after it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

Row = tuple[str, ...]
Reader = Callable[[Path], Iterator[Row]]

COMPARED = (
    "group",
    "topic",
    "partition",
    "current_offset",
    "log_end_offset",
    "lag",
    "consumer_id",
    "host",
    "client_id",
)
"""The columns that all tools show, in the order in which all show them."""


class Answer(NamedTuple):
    """How many rows, and a number that two sets of rows share only when they are the same."""

    rows: int
    digest: int


def answer(path: Path, reader: Reader) -> Answer:
    rows = digest = 0
    for row in reader(path):
        rows += 1
        digest += int.from_bytes(blake2b("\0".join(row).encode(), digest_size=8).digest())
    return Answer(rows, digest % 2**64)


def text_rows(path: Path) -> Iterator[Row]:
    """kgroups, Kafka's tool, and any peer that writes the same columns, with one header or one for each group."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] != "GROUP":
                yield tuple(words[: len(COMPARED)])


def json_rows(path: Path) -> Iterator[Row]:
    """``kgroups -o json``: one item a line inside the envelope."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith('{"group"'):
                item = json.loads(line.rstrip(",\n"))
                yield tuple("-" if item[key] is None else str(item[key]) for key in COMPARED)


def lines(path: Path) -> Iterator[Row]:
    """Any text: every line is a row."""
    with path.open(encoding="utf-8") as text:
        for line in text:
            yield (line.rstrip(),)
