"""Undo files: JSON Lines with a header, one line per offset, and the results, appended as they arrive.

::

    {"schema": "kgroups/undo/v2", "cluster_id": ..., "topic_ids": {...}, "command": ..., "offsets": 2}
    {"group": "g", "topic": "t", "partition": 0, "old_offset": 5, "new_offset": 9, "type": "Classic"}
    {"group": "g", "topic": "t", "partition": 1, "old_offset": null, "new_offset": 9, "type": "Classic"}
    {"amended": 1, "old_offset": 6}
    {"amended": 3, "group": "g", "topic": "u", "partition": 2, "old_offset": 7, "new_offset": null, "topic_id": ...}
    {"result": "applied", "offsets": [1, 2]}

Offsets are numbered from 1. An amended one was another one when it was overwritten; if it was not there before, it gets
the next number, and has the ID of its topic, if known. An offset without a result may have been written: the run was
killed. All offsets are in the file before anything is changed. A truncated last line is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kgroups.errors import UsageError

from ..counts import count
from ..offsets import Move
from ..outcome import Result
from .origin import Source, topic_id_text
from .plan_row import (
    PlanFile,
    PlanRow,
    commit_item,
    envelope,
    key_of,
    move_of,
    row_of,
    source_of,
    topic_ids_of,
    type_of,
)
from .reset import PlannedOffset

SCHEMA = "kgroups/undo/v2"
SETTINGS_SCHEMA = "kgroups/undo-settings/v1"

_A = {"offset": "an offset", "setting": "a setting"}

R = TypeVar("R", bound=Any)
"""A row with a ``result``."""


def undo_lines(planned: Sequence[PlannedOffset], source: Source) -> Iterator[str]:
    """Yield the lines of a file, without line ends, before anything is changed."""
    return lines_of(SCHEMA, source, "offsets", [_item(entry) for entry in planned])


def lines_of(schema: str, source: Source, what: str, items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a file with items of any kind.

    :param what: the plural of an item, which is the key of their number.
    """
    yield _json_line({"schema": schema, **envelope(source), what: len(items)})
    yield from map(_json_line, items)


def result_line(result: Result, numbers: Iterable[int], error: str | None = None, what: str = "offsets") -> str:
    """Return the line to append when items have a result."""
    line: dict[str, Any] = {"result": result.value, what: list(numbers)}
    return _json_line(line | {"error": error} if error else line)


def amendment_line(number: int, before: Move) -> str:
    """Return the line to append if another old offset was overwritten."""
    return _json_line({"amended": number, **commit_item(before, "old_")})


def addition_line(number: int, entry: PlannedOffset) -> str:
    """Return the line to append when there was one more offset."""
    topic_id = {"topic_id": topic_id_text(entry.seen.topic_id)} if entry.seen.topic_id else {}
    return _json_line({"amended": number, **_item(entry), **topic_id})


def _item(entry: PlannedOffset) -> dict[str, Any]:
    item: dict[str, Any] = dict(zip(("group", "topic", "partition"), entry.key, strict=True))
    item |= commit_item(entry.before, "old_") | commit_item(entry.after, "new_")
    if entry.kind is not None:
        item["type"] = entry.kind
    if entry.beyond_end:
        item["beyond_end"] = True
    return item


def _json_line(item: Mapping[str, Any]) -> str:
    """Return JSON in UTF-8; if that is impossible (a lone surrogate), in ASCII."""
    text = json.dumps(item, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(item)
    return text


def begins_undo(text: str, schema: str = SCHEMA) -> bool:
    """Return whether a text is an undo file of this format."""
    header = _object(text.partition("\n")[0])
    return header is not None and header.get("schema") == schema


def parse_undo(text: str, name: str) -> PlanFile:
    """Parse an undo file.

    :param name: of the file, for errors.
    :raises UsageError: if the file is damaged; the message names the line.
    """
    rows, source = parse_rows(text, name, "offset", _row)
    added = {row.topic: row.topic_id for row in rows if row.topic_id}
    return PlanFile(tuple(rows), True, replace(source, topic_ids={**added, **source.topic_ids}), name)


def parse_rows(text: str, name: str, what: str, row_of: Callable[[str, dict[str, Any]], R]) -> tuple[list[R], Source]:
    """Return the rows of an undo file with their results, and the run that wrote it.

    :param what: the singular of an item.
    :param row_of: makes a row of its place and its JSON.
    :raises UsageError: if the file is damaged; the message names the line.
    """
    first, *lines = text.split("\n")
    header = _object(first) or {}
    total = header.get(f"{what}s")
    if type(total) is not int or total < 0:
        raise UsageError(f"{name}, line 1: its number of {what}s is missing, or not a number")
    source = source_of(header, f"{name}, line 1")
    rows: list[R] = []
    for number in range(total):
        where = f"{name}, line {number + 2}"
        found = _object(lines[number]) if number < len(lines) else None
        if found is None:
            raise UsageError(
                f"{where}: truncated: {number:,} of {count(total, what)} can be read; "
                "kgroups changes nothing before an undo file is complete"
            )
        rows.append(row_of(where, found))
    _enter_results(rows, lines[total:], name, what, row_of)
    return rows, source


def _row(where: str, item: dict[str, Any]) -> PlanRow:
    group, topic, partition = key_of(where, item)
    if not {"old_offset", "new_offset"} <= item.keys():
        raise UsageError(f"{where}: its old_offset or new_offset is missing; use null for none")
    old, new = (move_of(where, item, partition, prefix) for prefix in ("old_", "new_"))
    row = row_of(where, group, topic, old, partition, type_of(where, item))
    topic_id = topic_ids_of({topic: item["topic_id"]}, where, "topic_id")[topic] if "topic_id" in item else None
    return row._replace(
        written=new, has_written=True, beyond_end=item.get("beyond_end") is True, topic_id=topic_id or None
    )


def _enter_results(
    rows: list[R], lines: Sequence[str], name: str, what: str, row_of: Callable[[str, dict[str, Any]], R]
) -> None:
    """Set the results of rows; later lines take precedence."""
    total = len(rows)
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        where = f"{name}, line {total + number + 2}"
        found = _object(line)
        if found is None:
            if number == len(lines) - 1:
                return  # the run was killed while it wrote this line
            raise UsageError(f"{where}: not a JSON object")
        if "amended" in found and "group" in found and found["amended"] == len(rows) + 1:
            rows.append(row_of(where, found))
            continue
        if "amended" in found:
            row = rows[_number(found["amended"], where, rows, what) - 1]
            rows[found["amended"] - 1] = row._replace(move=move_of(where, found, row.partition, "old_"))
            continue
        result, numbers = found.get("result"), found.get(f"{what}s")
        if result not in list(Result) or not isinstance(numbers, list):
            raise UsageError(f"{where}: not a result: {', '.join(Result)}, with the numbers of its {what}s")
        for at in numbers:
            index = _number(at, where, rows, what) - 1
            rows[index] = rows[index]._replace(result=Result(result))


def _number(at: Any, where: str, rows: Sequence[Any], what: str) -> int:
    if type(at) is not int or not 1 <= at <= len(rows):
        raise UsageError(f"{where}: {at!r} is not a number of {_A[what]}, from 1 to {len(rows):,}")
    return at


def _object(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
