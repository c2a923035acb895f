"""Offsets found in copies of logs that are made at random: no unread record is skipped."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kgroups.model.translation.copies import Copy, Place, Scan, Window, place, same_offsets
from tests.property.copied_logs import World, make_world

WORLDS = 1_000


def _offsets(world: World) -> list[int]:
    return sorted({world.source_start, world.source_end, *(each.offset for each in world.source)})


@pytest.mark.parametrize("width", [4, 64])
def test_no_unread_record_is_skipped(width: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(WORLDS):
        world = make_world(seed)
        for committed in _offsets(world):
            window = world.window(committed, width)
            for start in {0, world.bound(window, lead=width)}:
                found = place(window, world.scan(start), compacted=world.compacted)
                seen[found.why if isinstance(found, tuple) and not isinstance(found, Place) else "found"] += 1
                if not isinstance(found, Place):
                    continue
                where = f"world {seed} {sorted(world.kinds)}, offset {committed}, from {start}: {found}"
                skipped = [at for at in world.unread_in_copy(committed).values() if at < found.offset]
                again = world.kinds & {"written again", "late batch"}
                # Compaction may have removed the first copies of all records that the window has.
                assert not skipped or (again and world.compacted), where
                # A narrow window does not show that the copier went further back, and what compaction removed from the
                # source cannot be told from what it still has.
                removed = "compacted source" in world.kinds and (again or "equal records" in world.kinds)
                removed = removed or bool(found.twice) or (again and world.compacted)
                narrow = width < 64 and (again or "equal records" in world.kinds)
                if start == 0 and not narrow and not removed:
                    assert world.read_again(committed, found.offset) <= found.at_most, where
    assert seen["found"] > seen.total() / 2, seen
    print(seen)


@pytest.mark.parametrize("width", [4, 64])
def test_records_of_others_are_counted_and_no_copies_are(width: int) -> None:
    """Records of others are put somewhere into the copy: those that are counted are theirs, and before the offset."""
    counted: Counter[str] = Counter()
    for seed in range(WORLDS):
        world = make_world(seed)
        rng = random.Random(seed)
        start = rng.randint(0, len(world.copy))
        theirs = [Copy(0, (rng.randint(0, 99_999), b"put in %d" % each)) for each in range(rng.randint(0, 3))]
        mixed = [*world.copy[:start], *theirs, *world.copy[start:]]
        records = [each._replace(offset=at) for at, each in enumerate(mixed)]
        origins = [world.origin[each.offset] for each in world.copy]
        others = [each is None for each in (*origins[:start], *(None for _ in theirs), *origins[start:])]
        for committed in _offsets(world):
            window = world.window(committed, width)
            found = place(window, Scan(records, from_start=False, to_end=True), compacted=world.compacted)
            if isinstance(found, Place):
                where = f"world {seed} {sorted(world.kinds)}, offset {committed}: {found}"
                there = sum(others[: found.offset])
                # A batch that was written again late may have records that the window does not have.
                assert found.others <= there or "late batch" in world.kinds, where
                counted["some" if found.others else "not seen" if there else "none"] += 1
    print(counted)
    assert counted["some"] > 100


def test_equal_offsets_are_only_equal_if_the_records_are() -> None:
    equal = 0
    for seed in range(WORLDS):
        world = make_world(seed)
        for committed in _offsets(world):
            window = world.window(committed, 64)
            if same_offsets(window, world.scan()) is None:
                continue
            equal += 1
            where = f"world {seed} {sorted(world.kinds)}, offset {committed}"
            assert all(at >= committed for at in world.unread_in_copy(committed).values()), where
            assert world.read_again(committed, committed) == 0, where
    assert equal


def test_records_that_the_source_lost_may_have_been_copied_again() -> None:
    """The copier went back to a record that is gone from the source: it cannot be told from others' records."""
    lost, first, second = (Copy(offset, (offset, b"record")) for offset in range(3))
    copies = [lost, first, second, lost, first, second]
    scan = Scan([each._replace(offset=at) for at, each in enumerate(copies)], from_start=True, to_end=True)
    found = place(Window(1, (), (first, second), from_start=True, to_end=True), scan, compacted=False)
    assert isinstance(found, Place)
    assert (found.offset, found.surplus) == (1, 2)
    kept = place(Window(1, (lost,), (first, second), from_start=True, to_end=True), scan, compacted=False)
    assert isinstance(kept, Place)
    assert (kept.offset, kept.surplus, kept.twice) == (1, 0, 1)


def test_offsets_of_aborted_copies_are_not_equal() -> None:
    records = [Copy(offset, (offset, b"record")) for offset in range(4)]
    window = Window(2, tuple(records[:2]), tuple(records[2:]), from_start=True, to_end=True)
    aborted = [each._replace(aborted=True) for each in records]
    assert same_offsets(window, Scan(records, from_start=True, to_end=True)) == 4
    assert same_offsets(window, Scan(aborted, from_start=True, to_end=True)) is None


def test_copies_of_records_before_the_window_count_as_read_again() -> None:
    """Records around the offset are equal, and the copier wrote an older block again between them."""
    same = [Copy(offset, (9, b"same")) for offset in range(5, 9)]
    before, unread = [Copy(4, (4, b"four")), *same[:3]], same[3:]
    older = [Copy(offset, (offset, b"older")) for offset in range(3)]
    copies = [before[0], same[0], *older, *same[1:]]
    scan = Scan([each._replace(offset=at) for at, each in enumerate(copies)], from_start=False, to_end=True)
    found = place(Window(8, tuple(before), tuple(unread), from_start=False, to_end=True), scan, compacted=False)
    assert isinstance(found, Place)
    assert (found.offset, found.at_most) == (1, 7)
