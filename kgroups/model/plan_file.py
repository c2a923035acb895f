"""Plans as text: the Java tool's CSV of three and of four columns, and JSON, which can also say "no commit".

An undo is the JSON form under a name of its own: it puts back what was, with leader epochs and metadata.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from kgroups.errors import UsageError

from .groups import GroupId, GroupType
from .names import check_sendable
from .offsets import Commit
from .reset import FromPlan, Move, PlanKey, PlannedOffset

PLAN = "kgroups/plan/v1"
UNDO = "kgroups/undo/v1"

LARGEST_PARTITION = 2**31 - 1
LARGEST_OFFSET = 2**63 - 1

_JSON = re.compile(r"[ \t\r\n]*\{(?:[ \t\r\n\"]|\Z)")
"""How an object begins. A name in CSV may have a brace first, too; with a blank or a quote next, it is quoted."""

_DIGITS = re.compile(r"[0-9]{1,19}")


class PlanRow(NamedTuple):
    """One row; ``where`` names file and line. ``group`` is ``None`` in the CSV of three columns."""

    where: str
    group: GroupId | None
    topic: str
    partition: int
    move: Move
    kind: str | None = None
    """The group's type, where it is to be made as another than a commit makes it."""


class PlanFile(NamedTuple):
    """The rows of a file; ``exact`` when it is an undo."""

    rows: tuple[PlanRow, ...]
    exact: bool = False

    @property
    def groups(self) -> tuple[GroupId, ...]:
        """The groups that it names, sorted."""
        return tuple(sorted({row.group for row in self.rows if row.group is not None}))

    def scenario(self, only: GroupId | None) -> FromPlan:
        """The moves; those of rows without a group are ``only``'s.

        :raises UsageError: when rows lack a group and ``only`` is not given, or two rows contradict each other.
        """
        moves: dict[PlanKey, Move] = {}
        where: dict[PlanKey, str] = {}
        kinds: dict[GroupId, str] = {}
        for row in self.rows:
            group = only if row.group is None else row.group
            if group is None:
                raise UsageError(f"{row.where}: no group in it: three columns go with exactly one --group")
            key = (group, row.topic, row.partition)
            if key in moves and moves[key] != row.move:
                raise UsageError(f"{row.where}: {row.topic}-{row.partition} of group '{group}' is there twice")
            moves[key], where[key] = row.move, row.where
            if row.kind:
                kinds[group] = row.kind
        return FromPlan(moves, self.exact, where, kinds)


def parse_plan(text: str, name: str) -> PlanFile:
    """A plan of any of the forms.

    :param name: of the file, for errors.
    :raises UsageError: for what is no plan; the text names the line, or in JSON the item.
    """
    plan = _from_json(text, name) if _JSON.match(text) else PlanFile(tuple(_from_csv(text, name)))
    if not plan.rows:
        raise UsageError(f"{name}: there is no offset in it")
    return plan


def _from_csv(text: str, name: str) -> Iterator[PlanRow]:
    if "\n" not in text and '"' not in text:
        text = text.replace("\r", "\n")  # the line ends of old Macs
    reader = csv.reader((line + "\n" for line in text.split("\n")), strict=True)
    width: int | None = None
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise UsageError(f"{name}, line {reader.line_num}: not CSV: {error}") from None
        if cells is None:
            return
        where = f"{name}, line {reader.line_num}"
        if not cells or cells == [""]:
            continue
        if len(cells) not in (3, 4):
            raise UsageError(f"{where}: {len(cells)} columns; topic,partition,offset or group,topic,partition,offset")
        if len(cells) != (width := width or len(cells)):
            raise UsageError(f"{where}: {len(cells)} columns, and {width} before")
        *group, topic, partition, offset = cells
        yield _row(
            where,
            group[0] if group else None,
            topic,
            _number(where, "partition", partition, LARGEST_PARTITION),
            _number(where, "offset", offset, LARGEST_OFFSET),
        )


def _number(where: str, what: str, text: str, largest: int) -> int:
    text = text.strip()
    if not _DIGITS.fullmatch(text):
        negative = " (it is negative)" if re.fullmatch(r"-[0-9]+", text) else ""
        raise UsageError(f"{where}: {text!r} is no {what}{negative}")
    return _bounded(where, what, int(text), largest)


def _bounded(where: str, what: str, number: int, largest: int) -> int:
    if not 0 <= number <= largest:
        raise UsageError(f"{where}: {what} {number} cannot be: it goes from 0 to {largest}")
    return number


def _row(
    where: str,
    group: GroupId | None,
    topic: str,
    partition: int,
    offset: int | None,
    leader_epoch: int | None = None,
    metadata: str = "",
    kind: str | None = None,
) -> PlanRow:
    if not topic or group == "":
        raise UsageError(f"{where}: the {'topic' if not topic else 'group'} is empty")
    for name in (group or "", topic):
        check_sendable(name, where)
    check_sendable(metadata, where, "metadata")
    move = None if offset is None else Commit(partition, offset, leader_epoch, metadata)
    return PlanRow(where, group, topic, partition, move, kind)


def _from_json(text: str, name: str) -> PlanFile:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{name}, line {error.lineno}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{name}: not a plan: its JSON has numbers too long or is nested too deep") from None
    schema = found.get("schema") if isinstance(found, dict) else None
    items = found.get("items") if isinstance(found, dict) else None
    if schema not in (PLAN, UNDO) or not isinstance(items, list):
        raise UsageError(f"{name}: JSON, but not a plan: its schema has to be {PLAN} or {UNDO}, with items")
    return PlanFile(
        tuple(_item(f"{name}, item {number}", item) for number, item in enumerate(items, 1)), schema == UNDO
    )


def _item(where: str, item: Any) -> PlanRow:
    if not isinstance(item, dict):
        raise UsageError(f"{where}: not an object")
    for key, kind in (("group", str), ("topic", str), ("partition", int)):
        if type(item.get(key)) is not kind:
            raise UsageError(f"{where}: its {key} is missing, or of the wrong kind")
    if "offset" not in item:
        raise UsageError(f"{where}: its offset is missing; null says that there is none")
    offset, epoch, metadata = item["offset"], item.get("leader_epoch"), item.get("metadata", "")
    if any(number is not None and type(number) is not int for number in (offset, epoch)) or type(metadata) is not str:
        raise UsageError(f"{where}: its offset, leader_epoch or metadata is of the wrong kind")
    if (made_as := item.get("type")) not in (None, *GroupType.ALL):
        raise UsageError(f"{where}: its type is none of {', '.join(GroupType.ALL)}")
    return _row(
        where,
        item["group"],
        item["topic"],
        _bounded(where, "partition", item["partition"], LARGEST_PARTITION),
        None if offset is None else _bounded(where, "offset", offset, LARGEST_OFFSET),
        None if epoch is None else _bounded(where, "leader_epoch", epoch, LARGEST_PARTITION),
        metadata,
        made_as,
    )


def java_csv(planned: Iterable[PlannedOffset], *, with_group: bool) -> Iterator[str]:
    """The new offsets as lines of the Java tool's ``--export``. A commit that goes away cannot be said, and is not."""
    for entry in planned:
        if entry.after:
            group = (_quoted(entry.group_id),) if with_group else ()
            yield ",".join((*group, _quoted(entry.topic), str(entry.partition), str(entry.after.offset)))


_SAFE = re.compile(r"[^\x00-,]{0,24}")


def _quoted(text: str) -> str:
    """As Jackson, the Java tool's CSV writer, quotes: what is longer than 24 characters, or has one up to the comma."""
    return text if _SAFE.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def json_plan(planned: Iterable[PlannedOffset]) -> Iterator[str]:
    """The new offsets as lines of JSON."""
    return _json(PLAN, ((entry, entry.after) for entry in planned))


def json_undo(planned: Iterable[PlannedOffset]) -> Iterator[str]:
    """The old offsets as lines of JSON: what :func:`parse_plan` takes back exactly."""
    return _json(UNDO, ((entry, entry.before) for entry in planned))


def _json(schema: str, moves: Iterable[tuple[PlannedOffset, Move]]) -> Iterator[str]:
    yield f'{{"schema": "{schema}", "items": ['
    dumped = _short if schema == UNDO else json.dumps  # a plan goes to a terminal or pipe of whatever encoding
    rows = [dumped(_json_item(entry, move)) for entry, move in moves]
    yield from (row + "," for row in rows[:-1])
    yield from rows[-1:]
    yield "]}"


def _short(item: dict[str, Any]) -> str:
    """In UTF-8's own letters, which are half as long or less; escaped only where UTF-8 has none (a lone surrogate)."""
    text = json.dumps(item, ensure_ascii=False)
    return text if text.isascii() or _is_utf8(text) else json.dumps(item)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _json_item(entry: PlannedOffset, move: Move) -> dict[str, Any]:
    item: dict[str, Any] = dict(zip(("group", "topic", "partition"), entry.key, strict=True))
    item["offset"] = move.offset if move else None
    if move and move.leader_epoch is not None:
        item["leader_epoch"] = move.leader_epoch
    if move and move.metadata:
        item["metadata"] = move.metadata
    if entry.kind == GroupType.SHARE:
        item["type"] = entry.kind  # no commit makes one
    return item
