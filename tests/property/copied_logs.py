"""Logs and their copies, made at random: which record of the copy is which record of the source is known."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from kgroups.model.translation.copies import Copy, Scan, Window

START = 1_700_000_000_000
"""The time of the first record, in milliseconds since 1970."""

KINDS = (
    "plain",
    "same offsets",
    "gaps",
    "compacted source",
    "compacted copy",
    "aborted, copied",
    "aborted, left out",
    "lost prefix",
    "written again",
    "late batch",
    "equal records",
    "backward times",
    "copier behind",
    "others write",
)


@dataclass
class World:
    """A source, its copy, and the offset of the source's record in each record of the copy (``None``: others')."""

    kinds: frozenset[str]
    source: list[Copy]
    source_start: int
    source_end: int
    written: list[Copy] = field(default_factory=list)
    copy: list[Copy] = field(default_factory=list)
    origin: dict[int, int | None] = field(default_factory=dict)
    copy_start: int = 0
    copy_end: int = 0

    @property
    def compacted(self) -> bool:
        return "compacted copy" in self.kinds

    def window(self, committed: int, width: int) -> Window:
        before = [each for each in self.source if each.offset < committed]
        after = [each for each in self.source if each.offset >= committed]
        return Window(
            committed, tuple(before[-width:]), tuple(after[:width]), len(before) <= width, to_end=len(after) <= width
        )

    def scan(self, start: int = 0) -> Scan:
        return Scan([each for each in self.copy if each.offset >= start], start <= self.copy_start, to_end=True)

    def bound(self, window: Window, lead: int) -> int:
        """Return where to read from: a bit before the first record of the time of an unread one, or a later time."""
        first = min((each.content[0] for each in window.after), default=None)
        if first is None:
            return 0
        at = next((each.offset for each in self.copy if each.content[0] >= first), self.copy_end)
        return max(self.copy_start, at - lead)

    def unread_in_copy(self, committed: int) -> dict[int, int]:
        """Return the last offset in the copy of each record that the group would read from the source next."""
        unread = {each.offset for each in self.source if each.offset >= committed}
        return {origin: offset for offset, origin in sorted(self.origin.items()) if origin in unread}

    def read_again(self, committed: int, offset: int) -> int:
        """Return how many read records a group receives again that begins at an offset of the copy."""
        return sum(at >= offset and origin is not None and origin < committed for at, origin in self.origin.items())


def make_world(seed: int) -> World:
    rng = random.Random(seed)
    kinds = frozenset(rng.sample(KINDS[1:], rng.choice((0, 1, 1, 2, 3))))
    if "same offsets" in kinds:
        kinds -= {"gaps", "aborted, left out", "lost prefix", "written again", "late batch", "compacted copy"}
    world = _source(rng, kinds)
    _copy(rng, world)
    return world


def _source(rng: random.Random, kinds: frozenset[str]) -> World:
    offset = rng.choice((0, 0, 7, 1_000))
    start, time, records = offset, START, []
    number = rng.choice((0, 1, 2, 5, 20, 60))
    for index in range(number):
        time += rng.choice((0, 0, 1, 5))
        at = time - rng.choice((0, 0, 30)) if "backward times" in kinds else time
        content = b"key-%d value-%d" % (rng.randint(0, 9), index)
        if "equal records" in kinds and rng.random() < 0.5:
            at, content = START + index // 8, b"key-same value"
        aborted = bool(kinds & {"aborted, copied", "aborted, left out"}) and rng.random() < 0.3
        records.append(Copy(offset, (at, content), aborted))
        offset += 1
        if ("gaps" in kinds or "compacted source" in kinds) and rng.random() < 0.3:
            offset += rng.randint(1, 4)
    if kinds & {"aborted, copied", "aborted, left out"}:
        offset += 1  # a marker at the end
    world = World(kinds, records, start, offset)
    world.written = records
    if "compacted source" in kinds:
        world.source = _compacted(rng, records)
    return world


def _compacted(rng: random.Random, records: list[Copy]) -> list[Copy]:
    """Return what is left of a log whose first part was compacted."""
    cut = rng.randint(0, len(records))
    newest = {each.content[1].split()[0]: each.offset for each in records[:cut]}
    kept = [each for each in records[:cut] if newest[each.content[1].split()[0]] == each.offset]
    return [*kept, *records[cut:]]


def _copy(rng: random.Random, world: World) -> None:
    kinds = world.kinds
    source = world.source if "same offsets" in kinds else world.written  # before the source was compacted
    if "aborted, left out" in kinds:
        source = [each for each in source if not each.aborted]
    if "copier behind" in kinds:
        source = source[: rng.randint(0, len(source))]
    written: list[Copy] = []
    at = 0
    while at < len(source):
        written.append(source[at])
        at += 1
        if "written again" in kinds and rng.random() < 0.05:
            at = max(0, at - rng.randint(1, 8))
        if "late batch" in kinds and at and rng.random() < 0.05:
            first = rng.randint(0, at - 1)
            written += source[first : min(at, first + rng.randint(1, 5))]
    _append(rng, world, written)
    if "compacted copy" in kinds:
        _keep(world, _compacted(rng, world.copy))
    if "lost prefix" in kinds and world.copy:
        first = rng.choice(world.copy).offset
        world.copy_start = first
        _keep(world, [each for each in world.copy if each.offset >= first])


def _append(rng: random.Random, world: World, written: list[Copy]) -> None:
    """Write the records to the copy, and then those of others."""
    kinds = world.kinds
    offset = world.source_start if "same offsets" in kinds else rng.choice((0, 3, 500))
    world.copy_start = offset
    for each in written:
        if "same offsets" in kinds:
            offset = each.offset
        elif rng.random() < 0.1:
            offset += rng.randint(1, 3)
        _write(world, offset, each.content, each.offset)
        offset += 1
    if "same offsets" in kinds:
        offset = max(offset, world.source_end if "copier behind" not in kinds else 0)
    if "others write" in kinds:
        for index in range(rng.randint(1, 5)):
            _write(world, offset, (START + 10_000 + index, b"from others %d" % index), None)
            offset += 1
    world.copy_end = offset


def _write(world: World, offset: int, content: tuple[int, bytes], origin: int | None) -> None:
    world.copy.append(Copy(offset, content))
    world.origin[offset] = origin


def _keep(world: World, kept: list[Copy]) -> None:
    world.copy = kept
    world.origin = {each.offset: world.origin[each.offset] for each in kept}
