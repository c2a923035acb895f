from __future__ import annotations

import pytest

from kgroups.model.offsets import Commit, LogOffsets
from kgroups.model.translation.method import Impossible, Method, Translation
from kgroups.model.translation.parity import Verdict, by_count, without_count

LOG = LogOffsets(0, 100)


def exact(offset: int) -> Translation:
    return Translation(offset, Method.RECORD, "found")


def roughly(offset: int, at_most: int) -> Translation:
    return Translation(offset, Method.SYNC, "sync", at_most)


@pytest.mark.parametrize(
    ("translation", "commit", "log"),
    [
        (exact(5), None, LOG),
        (Translation.impossible(Impossible.NOT_FOUND, "no copy"), Commit(0, 5), LOG),
        (Translation(5, Method.TIME, "time", None), Commit(0, 5), LOG),
        (exact(5), Commit(0, 5), LogOffsets()),
        (exact(5), Commit(0, 101), LOG),
        (exact(5), Commit(0, 2), LogOffsets(3, 100)),
    ],
    ids=["no commit", "impossible", "lower bound", "unknown log", "beyond the end", "below the start"],
)
def test_verdict_is_unknown_without_evidence(translation: Translation, commit: Commit | None, log: LogOffsets) -> None:
    found = without_count(translation, commit, log)
    assert found is not None
    assert found.verdict is Verdict.UNKNOWN
    assert found.note


def test_equal_offset_is_the_same_only_if_the_translation_is_exact() -> None:
    found = without_count(exact(5), Commit(0, 5), LOG)
    assert found is not None and found.verdict is Verdict.SAME
    assert without_count(roughly(5, 3), Commit(0, 5), LOG) is None


@pytest.mark.parametrize(
    ("translation", "offset", "between", "verdict", "records"),
    [
        (exact(10), 7, 3, Verdict.BEHIND, 3),
        (exact(10), 7, 0, Verdict.SAME, 0),
        (exact(10), 12, 2, Verdict.AHEAD, 2),
        (exact(10), 12, 0, Verdict.SAME, 0),
        (exact(10), 12, None, Verdict.AHEAD, None),
        (exact(10), 7, None, Verdict.BEHIND, None),
        (roughly(10, 4), 10, 0, Verdict.UNKNOWN, None),
        (roughly(10, 4), 14, 4, Verdict.UNKNOWN, None),
        (roughly(10, 4), 15, 5, Verdict.AHEAD, 1),
        (roughly(10, 4), 8, 2, Verdict.BEHIND, 2),
        (roughly(10, 4), 8, None, Verdict.UNKNOWN, None),
    ],
)
def test_verdict_by_the_number_of_records_in_between(
    translation: Translation, offset: int, between: int | None, verdict: Verdict, records: int | None
) -> None:
    found = by_count(translation, Commit(0, offset), between)
    assert (found.verdict, found.records) == (verdict, records)
