"""The files of a Spark query's checkpoint: where its batches end, and which of them are complete.

Sources: Spark's OffsetSeqLog (versions 1 and 2), CommitLog (versions 1 to 3), KafkaSourceOffset, and
KafkaSourceInitialOffsetWriter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kgroups.errors import PositionsError

Ends = Mapping[tuple[str, int], int]
"""Topic and partition -> the offset after the last record of the batch."""

OFFSET_VERSIONS = (1, 2)
COMMIT_VERSIONS = (1, 2, 3)

_NO_OFFSET = "-"
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_DECIMAL = re.compile(r"[0-9]{1,10}")
_MOST_PARTITIONS, _MOST_OFFSETS = 1 << 31, 1 << 63


class BatchEnd(NamedTuple):
    """Where a batch ends, by the ID of the source: a number, or from version 2 on a number or a name.

    ``kafka``: the sources that read Kafka. ``others``: those that read something else. ``missing``: those that have no
    offset yet, whatever they read.
    """

    kafka: Mapping[str, Ends]
    others: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def numbered(self) -> list[str]:
        """The sources without a name, whose number never changes in a checkpoint."""
        return [each for each in (*self.kafka, *self.others, *self.missing) if _DECIMAL.fullmatch(each)]


def read_offsets(data: bytes) -> BatchEnd:
    """Return where a batch ends, from the file in ``offsets/``.

    :raises PositionsError: if the file is corrupt, or of an unknown version.
    """
    version, lines = _version(data, OFFSET_VERSIONS)
    if len(lines) < 2:
        raise PositionsError("the file is truncated")
    try:
        json.loads(lines[0] or "{}")
    except (ValueError, RecursionError):
        raise PositionsError("the line after the version is not valid JSON") from None
    kafka: dict[str, Ends] = {}
    others: list[str] = []
    missing: list[str] = []
    for name, text in _sources(version, lines[1:]):
        if text == _NO_OFFSET:
            missing.append(name)
        elif (ends := _kafka_offset(text)) is None:
            others.append(name)
        else:
            kafka[name] = ends
    return BatchEnd(kafka, tuple(others), tuple(missing))


def check_commit(data: bytes) -> None:
    """Check the file in ``commits/`` that says that a batch is complete.

    :raises PositionsError: if the file is corrupt, or of an unknown version.
    """
    _version(data, COMMIT_VERSIONS)


def read_initial_offsets(data: bytes) -> Ends | None:
    """Return where a source begins, from its file in ``sources/``; ``None`` if the source does not read Kafka.

    :raises PositionsError: if the file is corrupt.
    """
    first, _, rest = data.removeprefix(b"\0").partition(b"\n")
    return _kafka_offset(_text(rest).strip()) if first.strip() == b"v1" else None


def _version(data: bytes, known: tuple[int, ...]) -> tuple[int, list[str]]:
    """Return the version of a file, and the lines after it."""
    first, *lines = _text(data).split("\n")
    found = re.fullmatch(r"v([0-9]{1,9})", first.strip())
    if not found:
        raise PositionsError("the file is empty" if not data.strip() else "the first line is not a version, such as v1")
    version = int(found[1])
    if version not in known:
        raise PositionsError(f"version {version} is unknown; kgroups reads versions {known[0]} to {known[-1]}")
    if lines and not lines[-1]:
        lines.pop()  # the end of the line before
    return version, lines


def _text(data: bytes) -> str:
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise PositionsError("the file is not UTF-8") from None


def _sources(version: int, lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        if version == 1:
            yield str(number), line
            continue
        name, colon, text = line.partition(":")
        if not colon:
            raise PositionsError(f"source {number} has no ID")
        yield name, text


def _kafka_offset(text: str) -> Ends | None:
    """Return the offset of a Kafka source: ``{"topic":{"partition":offset}}``; ``None`` for other sources.

    :raises PositionsError: if it is a truncated object, or contains an offset that no partition has.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if text.startswith("{"):
            raise PositionsError("an offset is not valid JSON") from None
        return None
    if not isinstance(value, dict):
        return None
    found: dict[tuple[str, int], int] = {}
    for topic, partitions in value.items():
        if not (isinstance(partitions, dict) and _TOPIC.fullmatch(topic)):
            return None
        for number, offset in partitions.items():
            if not _DECIMAL.fullmatch(number) or not isinstance(offset, int) or isinstance(offset, bool):
                return None
            if not (int(number) < _MOST_PARTITIONS and 0 <= offset < _MOST_OFFSETS):
                raise PositionsError(f"partition {number} of topic {topic!r} has the offset {offset}")
            found[topic, int(number)] = offset
    return found
