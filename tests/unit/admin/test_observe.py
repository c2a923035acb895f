"""How much of the log is read for commit times."""

from __future__ import annotations

from typing import Any

import pytest

from kgroups.admin import observe as observing
from kgroups.admin.observe import observe
from kgroups.admin.query.select_groups import Selection
from kgroups.model.group_log import GroupLogs, ReadBudget
from kgroups.model.health.findings import Sample
from kgroups.model.offsets import Isolation
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster


@pytest.mark.parametrize(("groups", "seconds"), [(1, 5), (300, 6)])
def test_commit_time_limit_grows_with_the_number_of_commits(
    monkeypatch: pytest.MonkeyPatch, groups: int, seconds: float
) -> None:
    fake = FakeCluster(1, "4.3.1")
    fake.state.topic("t", [0] * 9)
    for number in range(groups):
        fake.state.group(f"g{number}", 0, commits={("t", partition): 1 for partition in range(9)})
    bounds: list[ReadBudget] = []

    async def read(admin: object, wanted: Any, limits: ReadBudget, **_: Any) -> GroupLogs:
        assert sum(map(len, wanted.values())) == 9 * groups
        bounds.append(limits)
        return GroupLogs({}, ())

    monkeypatch.setattr(observing, "read_group_logs", read)
    everything = Selection(everything=True)
    ask(
        fake,
        lambda admin: observe(admin, everything, Sample(with_commit_times=True), isolation=Isolation.READ_UNCOMMITTED),
    )
    assert bounds == [ReadBudget(32 << 20, seconds)]
