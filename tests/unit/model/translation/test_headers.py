from __future__ import annotations

from typing import Literal

import pytest

from kgroups.model.translation.copies import Copy, Unplaced, Window
from kgroups.model.translation.headers import Orders, place_by_header
from kgroups.model.translation.method import Impossible, Translation


def stretch(origins: dict[int, int], value: bytes = b"") -> list[tuple[Copy, int]]:
    """Copies by their offsets, with the offsets of the source in their headers."""
    return [(Copy(offset, (1, value or b"%d" % origin), body=2), origin) for offset, origin in sorted(origins.items())]


def window(offset: int, *, end: int = 20) -> Window:
    records = [Copy(each, (0, b"%d" % each), body=2) for each in range(10, end)]
    before = tuple(each for each in records if each.offset < offset)
    return Window(offset, before, tuple(each for each in records if each.offset >= offset), True, True)


@pytest.mark.parametrize(
    ("origins", "offset"),
    [
        ({0: 10, 1: 11, 2: 12, 3: 13}, 2),
        ({5: 10, 7: 11, 9: 12}, 9),
        ({0: 10, 1: 11, 2: 12, 3: 13, 4: 11, 5: 12}, 2),  # written again
        ({0: 12, 1: 13}, 0),
    ],
)
def test_group_continues_at_the_copy_of_the_next_record(origins: dict[int, int], offset: int) -> None:
    found = place_by_header(window(12), stretch(origins), from_start=True, compacted=False)
    assert isinstance(found, Translation)
    assert (found.offset, found.at_most) == (offset, 0)


@pytest.mark.parametrize(
    ("origins", "why"),
    [
        ({}, Impossible.NOT_FOUND),
        ({0: 10}, Impossible.NOT_COPIED_YET),
        ({0: 13, 1: 14}, Impossible.TRUNCATED),
        ({0: 11, 1: 13}, Impossible.NOT_COPIED),
    ],
)
def test_other_copies_do_not_prove_an_offset(origins: dict[int, int], why: Impossible) -> None:
    found = place_by_header(window(12), stretch(origins), from_start=True, compacted=False)
    assert isinstance(found, Unplaced)
    assert found.why is why


def test_group_that_has_read_everything_continues_behind_the_last_copy() -> None:
    found = place_by_header(window(20), stretch({0: 18, 1: 19}), from_start=True, compacted=False)
    assert isinstance(found, Translation)
    assert found.offset == 2


def test_compaction_may_have_removed_the_next_record() -> None:
    found = place_by_header(window(12), stretch({0: 11, 1: 13}), from_start=True, compacted=True)
    assert isinstance(found, Translation)
    assert found.offset == 1


def test_header_of_an_earlier_copy_proves_nothing() -> None:
    found = place_by_header(window(12), stretch({0: 11, 1: 12}, b"ab"), from_start=True, compacted=False)
    assert isinstance(found, Unplaced)
    assert found.why is Impossible.AMBIGUOUS


def test_read_records_that_were_copied_again_are_counted() -> None:
    copies = stretch({0: 10, 1: 11, 2: 12, 3: 11, 4: 12})
    found = place_by_header(window(12), copies, from_start=True, compacted=False)
    assert isinstance(found, Translation)
    assert (found.offset, found.at_most, found.twice, found.read_again) == (2, 0, 1, None)


@pytest.mark.parametrize("order", ["big", "little"])
def test_byte_order_is_that_in_which_all_are_offsets_of_the_source(order: Literal["big", "little"]) -> None:
    origins = [each.to_bytes(8, order) for each in (0, 1, 2**24, 300)]
    orders = Orders().within(origins, 1_000_000_000)
    assert [orders.decode(each) for each in origins] == [0, 1, 2**24, 300]
    assert not orders.doubtful(origins)


def test_byte_order_may_remain_unknown() -> None:
    origins = [(2**24).to_bytes(8, "big"), 5]
    orders = Orders().within(origins, 2**40)
    assert orders.doubtful(origins)
    assert not orders.doubtful([5, bytes(8)])
    orders = orders.within([(7).to_bytes(8, "big")], 2**40)
    assert (orders.left, orders.doubtful(origins)) == (("big",), False)


def test_offsets_beyond_the_source_prove_nothing() -> None:
    text = [b"\xff" * 8]
    orders = Orders().within(text, 1_000)
    assert orders.left == () and orders.decode(text[0]) > 1_000 and not orders.doubtful(text)
