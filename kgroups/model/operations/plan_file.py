"""Plan files: the Java tool's CSV with three or four columns, and JSON, which can also represent "no commit".

Undo files are in :mod:`.undo_file`. :func:`parse_plan` reads them too, and those of the first format, which was JSON.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from kgroups.errors import UsageError

from ..counts import count
from ..groups import GroupType
from ..offsets import Commit
from .origin import Source
from .plan_row import (
    LARGEST_OFFSET,
    LARGEST_PARTITION,
    SOURCE_KEYS,
    PlanFile,
    PlanRow,
    bounded,
    commit_item,
    envelope,
    key_of,
    move_of,
    row_of,
    source_of,
    type_of,
)
from .reset import PlannedOffset
from .undo_file import SETTINGS_SCHEMA, begins_undo, parse_undo

PLAN = "kgroups/plan/v1"
UNDO = "kgroups/undo/v1"

_JSON = re.compile(r"[ \t\r\n]*\{(?:[ \t\r\n\"]|\Z)")
"""The start of a JSON object. A name in CSV may also start with a brace; before a blank or a quote, it is quoted."""

_KEYS = frozenset({"group", "topic", "partition", "offset", "leader_epoch", "metadata", "old_offset", "type"})
"""The keys of an item of a plan."""

_DIGITS = re.compile(r"[0-9]{1,19}")


def parse_plan(text: str, name: str) -> PlanFile:
    """Parse a plan of any format.

    :param name: of the file, for errors.
    :raises UsageError: if it is not a valid plan; the message names the line, or in JSON the item.
    """
    plan = _parse(text, name)
    if not plan.rows:
        raise UsageError(f"{name}: the file contains no offsets")
    return plan


def _parse(text: str, name: str) -> PlanFile:
    if not _JSON.match(text):
        return PlanFile(tuple(_from_csv(text, name)), name=name)
    if begins_undo(text, SETTINGS_SCHEMA):
        raise UsageError(f"{name}: an undo file of settings; use kgroups undo")
    return parse_undo(text, name) if begins_undo(text) else _from_json(text, name)


def _from_csv(text: str, name: str) -> Iterator[PlanRow]:
    if "\n" not in text and '"' not in text:
        text = text.replace("\r", "\n")  # line ends of classic Mac OS
    reader = csv.reader((line + "\n" for line in text.split("\n")), strict=True)
    width: int | None = None
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            cause = "a carriage return within a line" if str(error).startswith("new-line character") else error
            raise UsageError(f"{name}, line {reader.line_num}: not CSV: {cause}") from None
        if cells is None:
            return
        where = f"{name}, line {reader.line_num}"
        if not cells or cells == [""]:
            continue
        if len(cells) in (4, 5) and not cells[-1].strip():
            del cells[-1]  # a trailing comma, which the Java tool accepts
        if len(cells) not in (3, 4):
            raise UsageError(
                f"{where}: {count(len(cells), 'column')}; use topic,partition,offset or group,topic,partition,offset"
            )
        if len(cells) != (width := width or len(cells)):
            raise UsageError(f"{where}: {count(len(cells), 'column')}; previous lines have {width}")
        *group, topic, partition, offset = cells
        place = _number(where, "partition", partition, LARGEST_PARTITION)
        move = Commit(place, _number(where, "offset", offset, LARGEST_OFFSET))
        yield row_of(where, group[0] if group else None, topic, move, place)


def _number(where: str, what: str, text: str, largest: int) -> int:
    text = text.strip()
    if not _DIGITS.fullmatch(text):
        negative = " (it is negative)" if re.fullmatch(r"-[0-9]+", text) else ""
        raise UsageError(f"{where}: {text!r} is not a valid {what}{negative}")
    return bounded(where, what, int(text), largest)


def _from_json(text: str, name: str) -> PlanFile:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{name}, line {error.lineno}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise UsageError(
            f"{name}: not a plan: its JSON contains a number that is too long, or is nested too deeply"
        ) from None
    schema = found.get("schema") if isinstance(found, dict) else None
    items = found.get("items") if isinstance(found, dict) else None
    if schema not in (PLAN, UNDO) or not isinstance(items, list):
        raise UsageError(f"{name}: JSON, but not a plan: schema must be {PLAN} or {UNDO}, with items")
    rows = tuple(_item(f"{name}, item {number}", item, compared=schema == PLAN) for number, item in enumerate(items, 1))
    source = source_of(found, name) if schema == PLAN or found.keys() & SOURCE_KEYS else None
    return PlanFile(rows, schema == UNDO, source, name)


def _item(where: str, item: Any, *, compared: bool) -> PlanRow:
    """Return the row of an item; ``compared``: its old offset is compared with the committed one."""
    group, topic, partition = key_of(where, item)
    if unknown := sorted(item.keys() - _KEYS):
        text = f"{where}: its key {unknown[0]!r} is unknown"
        raise UsageError(text, hint=f"the offset to commit is the key offset; all keys: {', '.join(sorted(_KEYS))}")
    if "offset" not in item:
        raise UsageError(f"{where}: its offset is missing; use null for none")
    move = move_of(where, item, partition)
    row = row_of(where, group, topic, move, partition, type_of(where, item))
    if compared and "old_offset" in item:
        row = row._replace(written=move_of(where, item, partition, "old_"), has_written=True)
    return row


def java_csv(planned: Iterable[PlannedOffset], *, with_group: bool) -> Iterator[str]:
    """Yield the new offsets as lines of the Java tool's ``--export``, which cannot express commits to delete."""
    for entry in planned:
        if entry.after:
            group = (_quoted(entry.group),) if with_group else ()
            yield ",".join((*group, _quoted(entry.topic), str(entry.partition), str(entry.after.offset)))


_SAFE = re.compile(r"[^\x00-,]{0,24}")


def _quoted(text: str) -> str:
    """Quote as Jackson, the Java tool's CSV writer: texts over 24 characters, or with a character up to the comma."""
    return text if _SAFE.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def json_plan(planned: Iterable[PlannedOffset], source: Source | None = None) -> Iterator[str]:
    """Yield the new offsets as lines of JSON, in ASCII, because terminals and pipes may have any encoding."""
    origin = "".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in envelope(source).items())
    yield f'{{"schema": "{PLAN}"{origin}, "items": ['
    rows = [json.dumps(_json_item(entry)) for entry in planned]
    yield from (row + "," for row in rows[:-1])
    yield from rows[-1:]
    yield "]}"


def _json_item(entry: PlannedOffset) -> dict[str, Any]:
    item: dict[str, Any] = dict(zip(("group", "topic", "partition"), entry.key, strict=True))
    item |= commit_item(entry.after)
    item["old_offset"] = entry.old
    if entry.kind == GroupType.SHARE:
        item["type"] = entry.kind  # a commit cannot create a share group
    return item
