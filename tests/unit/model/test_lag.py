from __future__ import annotations

import pytest

from kgroups.model.lag import compute_lag, remark
from kgroups.model.offsets import LogOffsets


@pytest.mark.parametrize(
    ("committed", "end", "lag"),
    [(3, 10, 7), (10, 10, 0), (12, 10, -2), (None, 10, None), (3, None, None), (None, None, None), (0, 0, 0)],
)
def test_lag_is_end_minus_commit_or_unknown(committed: int | None, end: int | None, lag: int | None) -> None:
    assert compute_lag(committed, end) == lag


@pytest.mark.parametrize(
    ("committed", "start", "end", "text"),
    [
        (3, 5, 10, "data lost: 2 offsets deleted before they were read"),
        (5, 5, 10, None),
        (10, 5, 10, None),
        (11, 5, 10, "committed beyond the end of the log"),
        (3, None, 10, None),
        (3, 1, None, None),
        (None, 5, 10, None),
    ],
)
def test_remark_explains_an_abnormal_commit(
    committed: int | None, start: int | None, end: int | None, text: str | None
) -> None:
    assert remark(committed, LogOffsets(start, end)) == text
