"""Plans as text: the Java tool's CSV of three and of four columns, and JSON, which can also say "no commit".

Undo files are in :mod:`.undo`; :func:`parse_plan` reads them too, and those of the first format, which was JSON.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kgroups.errors import UsageError

from .acts import Result
from .counts import count
from .groups import GroupId, GroupType
from .names import check_sendable
from .offsets import Commit
from .origin import Mismatch, Origin, Source, topic_id_of, topic_id_text
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
    """The group's type, where the file tells it."""
    written: Move = None
    """Of an undo file: what the run wrote, or was going to write; see ``tells_written``."""
    tells_written: bool = False
    result: Result | None = None
    """Of an undo file: what became of it; ``None`` where the run ended before it knew."""
    beyond_end: bool = False


class PlanFile(NamedTuple):
    """The rows of a file; ``exact`` when it is an undo. ``source``: absent in CSV and in files of the first format."""

    rows: tuple[PlanRow, ...]
    exact: bool = False
    source: Source | None = None
    name: str = "the file"

    @property
    def groups(self) -> tuple[GroupId, ...]:
        """The groups that it names, sorted."""
        return tuple(sorted({row.group for row in self.rows if row.group is not None}))

    def scenario(self, only: GroupId | None, accepted: Iterable[Mismatch] = ()) -> FromPlan:
        """The moves; those of rows without a group are ``only``'s.

        :param accepted: how the cluster may differ from what the file says of it.
        :raises UsageError: when rows lack a group and ``only`` is not given, or two rows contradict each other.
        """
        moves: dict[PlanKey, Move] = {}
        where: dict[PlanKey, str] = {}
        kinds: dict[GroupId, str] = {}
        written: dict[PlanKey, Move] = {}
        results: dict[PlanKey, Result] = {}
        beyond: set[PlanKey] = set()
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
            if row.tells_written:
                written[key] = row.written
            if row.result:
                results[key] = row.result
            if row.beyond_end:
                beyond.add(key)
        known = self.exact or self.source
        origin = Origin(self.name, self.source or Source(), written, results, frozenset(beyond), frozenset(accepted))
        return FromPlan(moves, self.exact, where, kinds, origin if known else None)


def parse_plan(text: str, name: str) -> PlanFile:
    """A plan of any of the forms.

    :param name: of the file, for errors.
    :raises UsageError: for what is no plan; the text names the line, or in JSON the item.
    """
    plan = _of_any_form(text, name)
    if not plan.rows:
        raise UsageError(f"{name}: there is no offset in it")
    return plan


def _of_any_form(text: str, name: str) -> PlanFile:
    if not _JSON.match(text):
        return PlanFile(tuple(_from_csv(text, name)), name=name)
    from .undo import begins_undo, parse_undo

    return parse_undo(text, name) if begins_undo(text) else _from_json(text, name)


def _from_csv(text: str, name: str) -> Iterator[PlanRow]:
    if "\n" not in text and '"' not in text:
        text = text.replace("\r", "\n")  # the line ends of old Macs
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
        if len(cells) not in (3, 4):
            raise UsageError(
                f"{where}: {count(len(cells), 'column')}; topic,partition,offset or group,topic,partition,offset"
            )
        if len(cells) != (width := width or len(cells)):
            raise UsageError(f"{where}: {count(len(cells), 'column')}, and {width} before")
        *group, topic, partition, offset = cells
        place = _number(where, "partition", partition, LARGEST_PARTITION)
        move = Commit(place, _number(where, "offset", offset, LARGEST_OFFSET))
        yield row_of(where, group[0] if group else None, topic, move, place)


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


def row_of(
    where: str, group: GroupId | None, topic: str, move: Move, partition: int, kind: str | None = None
) -> PlanRow:
    """:raises UsageError: for names that Kafka's protocol cannot carry."""
    if not topic or group == "":
        raise UsageError(f"{where}: the {'topic' if not topic else 'group'} is empty")
    for name in (group or "", topic):
        check_sendable(name, where)
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
    rows = tuple(_item(f"{name}, item {number}", item) for number, item in enumerate(items, 1))
    source = source_of(found, name) if found.keys() & SOURCE_KEYS else None
    return PlanFile(rows, schema == UNDO, source, name)


SOURCE_KEYS = frozenset({"cluster_id", "bootstrap", "topic_ids", "command", "created", "version"})


def source_of(found: Mapping[str, Any], name: str) -> Source:
    """Return what the envelope of a file says about the run that wrote it.

    :raises UsageError: for a value of the wrong type.
    """
    texts = {key: found.get(key) for key in sorted(SOURCE_KEYS - {"topic_ids"})}
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{name}: its {key} is not a string")
    ids = found.get("topic_ids") or {}
    if not isinstance(ids, dict) or not all(isinstance(value, str) for value in ids.values()):
        raise UsageError(f"{name}: its topic_ids are not an object of strings")
    try:
        topic_ids = {topic: topic_id_of(value) for topic, value in ids.items()}
    except ValueError as error:
        raise UsageError(f"{name}: its topic_ids hold a value that is not a topic ID ({error})") from None
    return Source(topic_ids=topic_ids, **texts)


def _item(where: str, item: Any) -> PlanRow:
    group, topic, partition = key_of(where, item)
    if "offset" not in item:
        raise UsageError(f"{where}: its offset is missing; null says that there is none")
    move = move_of(where, item, partition)
    return row_of(where, group, topic, move, partition, type_of(where, item))


def key_of(where: str, item: Any) -> PlanKey:
    """:raises UsageError: if the item is not an object with a group, a topic, and a partition."""
    if not isinstance(item, dict):
        raise UsageError(f"{where}: not an object")
    for key, kind in (("group", str), ("topic", str), ("partition", int)):
        if type(item.get(key)) is not kind:
            raise UsageError(f"{where}: its {key} is missing, or of the wrong kind")
    return item["group"], item["topic"], _bounded(where, "partition", item["partition"], LARGEST_PARTITION)


def move_of(where: str, item: Mapping[str, Any], partition: int, prefix: str = "") -> Move:
    """Return the commit that an item describes: offset, leader epoch, and metadata.

    :param prefix: of the keys, as in ``old_offset``.
    :raises UsageError: for a value of the wrong type, or out of its range.
    """
    offset, epoch, metadata = (item.get(prefix + key) for key in ("offset", "leader_epoch", "metadata"))
    wrong = any(number is not None and type(number) is not int for number in (offset, epoch))
    if wrong or type(item.get(prefix + "metadata", "")) is not str:
        raise UsageError(f"{where}: its {prefix}offset, {prefix}leader_epoch or {prefix}metadata is of the wrong kind")
    if offset is None:
        return None
    check_sendable(metadata or "", where, "metadata")
    epoch = None if epoch is None else _bounded(where, f"{prefix}leader_epoch", epoch, LARGEST_PARTITION)
    return Commit(partition, _bounded(where, f"{prefix}offset", offset, LARGEST_OFFSET), epoch, metadata or "")


def type_of(where: str, item: Mapping[str, Any]) -> str | None:
    """:raises UsageError: if there is no such group type."""
    found = item.get("type")
    if found not in (None, *GroupType.ALL):
        raise UsageError(f"{where}: its type is none of {', '.join(GroupType.ALL)}")
    return found


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


def json_plan(planned: Iterable[PlannedOffset], source: Source | None = None) -> Iterator[str]:
    """The new offsets as lines of JSON, in ASCII: they go to a terminal or pipe of any encoding."""
    told = "".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in envelope(source).items())
    yield f'{{"schema": "{PLAN}"{told}, "items": ['
    rows = [json.dumps(_json_item(entry)) for entry in planned]
    yield from (row + "," for row in rows[:-1])
    yield from rows[-1:]
    yield "]}"


def envelope(source: Source | None) -> dict[str, Any]:
    """Return what is known about the run that writes a file, as JSON."""
    if source is None:
        return {}
    ids = {topic: topic_id_text(topic_id) for topic, topic_id in sorted(source.topic_ids.items()) if topic_id}
    return {
        "cluster_id": source.cluster_id,
        "bootstrap": source.bootstrap,
        "command": source.command,
        "created": source.created,
        "version": source.version,
        "topic_ids": ids,
    }


def _json_item(entry: PlannedOffset) -> dict[str, Any]:
    item: dict[str, Any] = dict(zip(("group", "topic", "partition"), entry.key, strict=True))
    item |= commit_item(entry.after)
    item["old_offset"] = entry.old
    if entry.kind == GroupType.SHARE:
        item["type"] = entry.kind  # no commit makes one
    return item


def commit_item(move: Move, prefix: str = "") -> dict[str, Any]:
    """Return a commit as JSON: :func:`move_of` reads it."""
    item: dict[str, Any] = {f"{prefix}offset": move.offset if move else None}
    if move and move.leader_epoch is not None:
        item[f"{prefix}leader_epoch"] = move.leader_epoch
    if move and move.metadata:
        item[f"{prefix}metadata"] = move.metadata
    return item
