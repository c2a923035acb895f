"""Check that the contenders return the same result.

Each reader yields the rows of one tool's output in a common form; digests that do not depend on their order are
compared. Files are read line by line: the memory of this process counts in the peak memory of later child processes.
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
"""The columns that all tools have in common, in their common order."""


class Answer(NamedTuple):
    """The number of rows, and a digest of the set of rows."""

    rows: int
    digest: int


def answer(path: Path, reader: Reader) -> Answer:
    rows = digest = 0
    for row in reader(path):
        rows += 1
        digest += int.from_bytes(blake2b("\0".join(row).encode(), digest_size=8).digest())
    return Answer(rows, digest % 2**64)


def text_rows(path: Path) -> Iterator[Row]:
    """Read the text of kgroups, Kafka's tool, and peers with the same columns, with one header or one per group."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] != "GROUP":
                yield tuple(words[: len(COMPARED)])


def json_rows(path: Path) -> Iterator[Row]:
    """Read ``kgroups -o json``: one item per line in the envelope."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.startswith('{"group"'):
                item = json.loads(line.rstrip(",\n"))
                yield tuple("-" if item[key] is None else str(item[key]) for key in COMPARED)


def lines(path: Path) -> Iterator[Row]:
    """Read any text; every line is a row."""
    with path.open(encoding="utf-8") as text:
        for line in text:
            yield (line.rstrip(),)
