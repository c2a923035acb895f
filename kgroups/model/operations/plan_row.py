"""The rows of plan and undo files, and the JSON of one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kgroups.errors import UsageError

from ..groups import GroupId, GroupType, check_sendable
from ..offsets import Commit, Move, PlanKey
from ..outcome import Result
from .origin import Mismatch, Origin, Source, topic_id_of, topic_id_text
from .reset import FromPlan

LARGEST_PARTITION = 2**31 - 1
LARGEST_OFFSET = 2**63 - 1


class PlanRow(NamedTuple):
    """One row; ``where`` is its file and line. ``group`` is ``None`` in CSV with three columns."""

    where: str
    group: GroupId | None
    topic: str
    partition: int
    move: Move
    group_type: str | None = None
    """The group's type, if the file contains it."""
    written: Move = None
    """In an undo file: what the run wrote, or was going to write. In a plan: what was committed when it was made. See
    ``has_written``."""
    has_written: bool = False
    result: Result | None = None
    """In an undo file: its result; ``None`` if the run ended before it was known."""
    beyond_end: bool = False
    topic_id: int | None = None
    """In an undo file: the topic ID of an offset that was added to it."""


class PlanFile(NamedTuple):
    """The rows of a file; ``exact``: it is an undo file. CSV and files of the first format have no ``source``."""

    rows: tuple[PlanRow, ...]
    exact: bool = False
    source: Source | None = None
    name: str = "the file"

    @property
    def groups(self) -> tuple[GroupId, ...]:
        """The groups in the file, sorted."""
        return tuple(sorted({row.group for row in self.rows if row.group is not None}))

    def scenario(self, only: GroupId | None, accepted: Iterable[Mismatch] = ()) -> FromPlan:
        """Return the offsets of the file; rows without a group are for the group ``only``.

        :param accepted: the mismatches between file and cluster that the user accepts.
        :raises UsageError: if rows lack a group and ``only`` is ``None``, or if two rows contradict each other.
        """
        moves: dict[PlanKey, Move] = {}
        where: dict[PlanKey, str] = {}
        types: dict[GroupId, str] = {}
        written: dict[PlanKey, Move] = {}
        results: dict[PlanKey, Result] = {}
        beyond: set[PlanKey] = set()
        for row in self.rows:
            group = only if row.group is None else row.group
            if group is None:
                raise UsageError(f"{row.where}: three columns have no group; use exactly one --group")
            key = (group, row.topic, row.partition)
            if key in moves and moves[key] != row.move:
                raise UsageError(f"{row.where}: {row.topic}-{row.partition} of group '{group}' occurs twice")
            moves[key], where[key] = row.move, row.where
            if row.group_type:
                types[group] = row.group_type
            if row.has_written:
                written[key] = row.written
            if row.result:
                results[key] = row.result
            if row.beyond_end:
                beyond.add(key)
        known = self.exact or self.source or written
        origin = Origin(self.name, self.source or Source(), written, results, frozenset(beyond), frozenset(accepted))
        return FromPlan(moves, self.exact, where, types, origin if known else None)


def bounded(where: str, what: str, number: int, largest: int) -> int:
    if not 0 <= number <= largest:
        raise UsageError(f"{where}: {what} {number} is out of range: 0 to {largest}")
    return number


def row_of(
    where: str, group: GroupId | None, topic: str, move: Move, partition: int, group_type: str | None = None
) -> PlanRow:
    """Return a row, after checking its names.

    :raises UsageError: if Kafka's protocol cannot represent them.
    """
    if not topic or group == "":
        raise UsageError(f"{where}: the {'topic' if not topic else 'group'} is empty")
    for name in (group or "", topic):
        check_sendable(name, where)
    return PlanRow(where, group, topic, partition, move, group_type)


SOURCE_KEYS = frozenset({"cluster_id", "bootstrap", "topic_ids", "command", "created", "version", "undoes"})


def source_of(found: Mapping[str, Any], name: str) -> Source:
    """Return the run that wrote a file, from its envelope.

    :raises UsageError: if a value has the wrong type.
    """
    texts = {key: found.get(key) for key in sorted(SOURCE_KEYS - {"topic_ids"})}
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise UsageError(f"{name}: its {key} is not a string")
    return Source(topic_ids=topic_ids_of(found.get("topic_ids") or {}, name), **texts)


def topic_ids_of(ids: Any, where: str, key: str = "topic_ids") -> dict[str, int]:
    """Return topic IDs by topic, from JSON.

    :param key: that has them, for errors.
    :raises UsageError: if they are not an object, or one of them is not a topic ID.
    """
    if not isinstance(ids, dict) or not all(isinstance(value, str) for value in ids.values()):
        raise UsageError(f"{where}: its {key} is not an object with string values")
    try:
        return {topic: topic_id_of(value) for topic, value in ids.items()}
    except ValueError as error:
        raise UsageError(f"{where}: its {key} has a value that is not a topic ID ({error})") from None


def key_of(where: str, item: Any) -> PlanKey:
    """Return the group, topic, and partition of an item.

    :raises UsageError: if the item is not an object, or lacks one of them.
    """
    if not isinstance(item, dict):
        raise UsageError(f"{where}: not an object")
    for key, expected in (("group", str), ("topic", str), ("partition", int)):
        if type(item.get(key)) is not expected:
            raise UsageError(f"{where}: its {key} is missing, or has the wrong type")
    return item["group"], item["topic"], bounded(where, "partition", item["partition"], LARGEST_PARTITION)


def move_of(where: str, item: Mapping[str, Any], partition: int, prefix: str = "") -> Move:
    """Return the commit of an item: offset, leader epoch, and metadata.

    :param prefix: of the keys, as in ``old_offset``.
    :raises UsageError: if a value has the wrong type, or is out of range.
    """
    offset, epoch, metadata = (item.get(prefix + key) for key in ("offset", "leader_epoch", "metadata"))
    wrong = any(number is not None and type(number) is not int for number in (offset, epoch))
    if wrong or type(item.get(prefix + "metadata", "")) is not str:
        raise UsageError(f"{where}: its {prefix}offset, {prefix}leader_epoch, or {prefix}metadata has the wrong type")
    if offset is None:
        return None
    check_sendable(metadata or "", where, "metadata")
    epoch = None if epoch is None else bounded(where, f"{prefix}leader_epoch", epoch, LARGEST_PARTITION)
    return Commit(partition, bounded(where, f"{prefix}offset", offset, LARGEST_OFFSET), epoch, metadata or "")


def type_of(where: str, item: Mapping[str, Any]) -> str | None:
    """Return the group type of an item, if it has one.

    :raises UsageError: if the type is unknown.
    """
    found = item.get("type")
    if found not in (None, *GroupType.ALL):
        raise UsageError(f"{where}: its type must be one of {', '.join(GroupType.ALL)}")
    return found


def envelope(source: Source | None) -> dict[str, Any]:
    """Return the run that writes a file, as JSON."""
    if source is None:
        return {}
    ids = {topic: topic_id_text(topic_id) for topic, topic_id in sorted(source.topic_ids.items()) if topic_id}
    return {
        "cluster_id": source.cluster_id,
        "bootstrap": source.bootstrap,
        "command": source.command,
        "created": source.created,
        "version": source.version,
        **({"undoes": source.undoes} if source.undoes else {}),
        "topic_ids": ids,
    }


def commit_item(move: Move, prefix: str = "") -> dict[str, Any]:
    """Return a commit as JSON that :func:`move_of` reads."""
    item: dict[str, Any] = {f"{prefix}offset": move.offset if move else None}
    if move and move.leader_epoch is not None:
        item[f"{prefix}leader_epoch"] = move.leader_epoch
    if move and move.metadata:
        item[f"{prefix}metadata"] = move.metadata
    return item
