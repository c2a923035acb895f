"""Translation by offset syncs and checkpoints: what each proves, and the reason if none does."""

from __future__ import annotations

import pytest

from kgroups.model.translation.syncs import OffsetPair, SyncLog, SyncTranslation, translate_by_syncs

LOG = [(100, 90), (200, 180), (300, 280)]


def translate(
    offset: int,
    log: list[tuple[int, int]] = LOG,
    checkpoints: list[tuple[int, int]] | None = None,
    ends: tuple[int, int] | None = None,
) -> SyncTranslation | str:
    pairs = [OffsetPair(*each) for each in checkpoints or ()]
    return translate_by_syncs(SyncLog.of(log), pairs, offset, OffsetPair(*ends) if ends else None)


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (200, SyncTranslation(180, 0, "sync 200 -> 180")),
        (201, SyncTranslation(181, 0, "sync 200 -> 180")),
        (250, SyncTranslation(181, 49, "sync 200 -> 180")),
        (299, SyncTranslation(181, 98, "sync 200 -> 180")),
        (1_300, SyncTranslation(281, 19, "sync 300 -> 280, end of the copy 300")),
    ],
)
def test_translation_follows_the_last_sync_at_or_below(offset: int, expected: SyncTranslation) -> None:
    assert translate(offset, ends=(2_000, 300)) == expected


def test_next_sync_limits_what_is_read_again() -> None:
    """Compaction left few records between the two syncs."""
    found = translate(900, [(0, 0), (1_000, 10)])
    assert found == SyncTranslation(1, 9, "sync 0 -> 0, next 1,000 -> 10")


def test_offset_below_all_syncs_is_not_translated() -> None:
    assert translate(99) == "the oldest offset sync is 100 -> 90, after the committed offset"
    assert translate(0, []) == "MirrorMaker 2 recorded no offset sync of this partition"


def test_checkpoint_below_all_syncs_is_used_if_the_next_sync_proves_it() -> None:
    assert translate(70, checkpoints=[(40, 30), (60, 45), (80, 70)]) == SyncTranslation(
        45, 45, "checkpoint 60 -> 45, next 100 -> 90"
    )


def test_checkpoint_that_may_be_left_from_a_deleted_copy_is_not_used() -> None:
    reason = "the oldest offset sync is 5,000 -> 4,000, after the committed offset, and does not prove the checkpoint "
    assert translate(950, [(5_000, 4_000)], [(900, 890)]) == f"{reason}900 -> 890"


def test_sync_that_goes_back_ends_what_earlier_ones_prove() -> None:
    recreated = [(1_000, 1_000), (0, 1_001), (1_200, 2_201)]
    assert translate(1_000, recreated) == SyncTranslation(1_002, 999, "sync 0 -> 1,001")
    deleted_copy = [(1_000, 1_000), (1_001, 0), (1_100, 99)]
    assert translate(1_000, deleted_copy) == "the oldest offset sync is 1,001 -> 0, after the committed offset"


def test_syncs_prove_nothing_while_records_are_copied_again() -> None:
    again = [(0, 0), (1_000, 1_000), (900, 1_010)]
    assert translate(950, again) == (
        "MirrorMaker 2 began again, and has not yet copied again what it had copied up to offset 1,009; "
        "its newest offset sync is 900 -> 1,010"
    )
    assert translate(950, [*again, (1_010, 1_120)]) == SyncTranslation(1_011, 49, "sync 900 -> 1,010")
    assert translate(950, again, ends=(901, 1_011)) == SyncTranslation(
        1_011, 0, "sync 900 -> 1,010, end of the copy 1,011"
    )


def test_sync_after_more_copies_than_records_is_not_used_until_they_were_copied_again() -> None:
    """It began again at 30, after it had copied up to 50."""
    log = [(0, 0), (30, 51)]
    assert translate(30, log) == SyncTranslation(1, 29, "sync 0 -> 0")
    assert translate(30, [*log, (50, 71)]) == SyncTranslation(51, 0, "sync 30 -> 51")


@pytest.mark.parametrize("ends", [(250, 500), (5_000, 280)])
def test_log_that_ends_before_its_newest_sync_was_recreated(ends: tuple[int, int]) -> None:
    found = translate(200, ends=ends)
    assert isinstance(found, str)
    side, end = ("source", "250") if ends[0] == 250 else ("copy", "280")
    assert found == (
        f"the newest offset sync is 300 -> 280, but the {side} ends at offset {end}: "
        "it was truncated or recreated since"
    )


def test_only_the_syncs_next_to_wanted_offsets_are_kept() -> None:
    log = SyncLog([5_000, 70_000])
    for upstream in range(100_000):
        log.add(upstream * 3, upstream)
    assert log.proved() < 12
    assert translate_by_syncs(log, (), 5_000) == SyncTranslation(1_667, 0, "sync 4,998 -> 1,666, next 5,001 -> 1,667")
