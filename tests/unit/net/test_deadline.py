from __future__ import annotations

import pytest

from kgroups.errors import DeadlineExceeded
from kgroups.net.deadline import Deadline


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("kgroups.net.deadline.time.monotonic", lambda: now[0])
    return now


def test_a_bound_is_no_more_than_what_is_left(clock: list[float]) -> None:
    deadline = Deadline(10)
    assert (deadline.bound(3), deadline.bound(30)) == (3, 10)
    clock[0] += 8
    assert (deadline.bound(3), deadline.remaining(), deadline.within(5).remaining()) == (2, 2, 2)
    clock[0] += 8
    assert deadline.remaining() == 0
    with pytest.raises(DeadlineExceeded, match=r"--timeout \(10 s\)"):
        deadline.bound(1)
