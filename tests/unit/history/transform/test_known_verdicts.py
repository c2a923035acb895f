"""Verdicts and anomalies of partitions of which the test knows what producers, consumers, and operators did."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from kgroups.history.engine.duck import DuckDB
from kgroups.history.rules import DEFAULTS
from kgroups.history.transform.definitions import DERIVED, Span
from tests.fakes.history import History, Row, at, derived_in

END, EVERY, COMMIT_EVERY = 600, 30, 5
"""Seconds of the history, between two samples, and between two commits."""
WINDOW = END - EVERY * DEFAULTS.samples
"""The verdicts judge the samples from here on."""
EACH = 30
"""Partitions of each life."""


class Partition:
    """A log that grows, and one group that reads it."""

    def __init__(self, history: History, name: str, chance: random.Random) -> None:
        self.history, self.name, self.chance = history, name, chance
        self.produced = chance.randint(5, 50)
        """Records each second."""
        self.end, self.committed, self.topic_id = chance.randint(1_000, 5_000), 0, "first"
        self.committed = self.end
        self.skew = 0.0
        """Seconds by which the clock of the collector is ahead."""

    def run(self, until: int, consumer: Callable[[], int | None]) -> None:
        """Continue until a time. ``consumer``: returns the offset to commit, or ``None``: no commit."""
        for second in range(self.time, until):
            self.end += self.produced
            if second % EVERY == EVERY - 1:
                self.history.head(second + 0.5 + self.skew, self.end, topic=self.name)
            if second % COMMIT_EVERY == 0 and (offset := consumer()) is not None:
                self.commit(second, offset)
        self.time = until

    time = 0

    def commit(self, second: float, offset: int | None) -> None:
        self.committed = offset or 0
        self.history.commit(self.name, second, offset, topic=self.name, topic_id=self.topic_id if offset else None)

    def recreate(self) -> None:
        self.end, self.topic_id = 0, "second"

    # Consumers.

    def reads_all(self) -> int:
        return self.end

    def reads(self, share: float) -> Callable[[], int]:
        """Return a consumer that reads at this share of the rate of producers."""
        return lambda: min(self.end, self.committed + round(self.produced * COMMIT_EVERY * share))

    def is_dead(self) -> None:
        return None


def keeps_up(each: Partition) -> None:
    each.run(END, each.reads_all)


def keeps_up_by_another_clock(each: Partition) -> None:
    each.skew = each.chance.uniform(1, 25)
    each.run(END, each.reads_all)


def has_a_steady_lag(each: Partition) -> None:
    each.committed -= each.chance.randint(200, 900)
    each.run(END, each.reads(1))


def catches_up(each: Partition) -> None:
    each.run(100, each.is_dead)
    each.run(END, each.reads(each.chance.uniform(1.05, 2)))


def falls_behind(each: Partition) -> None:
    each.commit(0, each.end)
    each.run(END, each.reads(each.chance.uniform(0.1, 0.7)))


def stops(each: Partition) -> None:
    each.run(WINDOW - each.chance.randint(50, 200), each.reads_all)
    each.run(END, each.is_dead)


def stands_still(each: Partition) -> None:
    each.run(each.chance.randint(50, WINDOW - 50), each.reads_all)
    each.run(END, lambda: each.committed)


def is_reset_to_earlier(each: Partition) -> None:
    each.run(each.chance.randint(WINDOW + 2 * EVERY, END - 2 * EVERY), each.reads_all)
    each.commit(each.time - 0.5, each.committed - each.chance.randint(300, 350) * each.produced)
    each.run(END, each.reads(each.chance.uniform(0, 1.2)))


def is_recreated(each: Partition) -> None:
    """The topic, and the consumer starts at its beginning."""
    each.run(each.chance.randint(WINDOW + 2 * EVERY, END - 2 * EVERY) // 5 * 5, each.reads_all)
    each.recreate()
    each.run(END, each.reads_all)


def is_recreated_and_never_read(each: Partition) -> None:
    """The commit is beyond the end of the new log for the rest of the time."""
    each.produced = 5
    each.run(END - EVERY * each.chance.randint(3, 9), each.reads_all)
    each.recreate()
    each.run(END, each.is_dead)


def is_set_beyond_the_end(each: Partition) -> None:
    each.run(each.chance.randint(50, END - 4 * EVERY), each.reads_all)
    each.commit(each.time - 0.5, each.end + 1_000_000)
    each.run(END, each.is_dead)


def is_set_beyond_the_end_before_the_only_sample(each: Partition) -> None:
    each.commit(END - EVERY - 1, each.end + 1_000_000)
    each.time = END - EVERY
    each.run(END, each.is_dead)


def is_deleted(each: Partition) -> None:
    """The offset, and the group begins again at an earlier one."""
    each.run(each.chance.randint(WINDOW + 2 * EVERY, END - 5 * EVERY), each.reads_all)
    each.commit(each.time - 0.5, None)
    each.run(each.time + EVERY + 10, each.is_dead)
    each.committed = 1
    each.run(END, each.reads(1.5))


class Truth(NamedTuple):
    statuses: set[str]
    """One of them is true."""
    anomalies: set[str] = set()


LIVES: Mapping[Callable[[Partition], None], Truth] = {
    keeps_up: Truth({"OK"}),
    keeps_up_by_another_clock: Truth({"OK"}),
    has_a_steady_lag: Truth({"OK"}),
    catches_up: Truth({"OK"}),
    falls_behind: Truth({"WARN"}),
    stops: Truth({"STOP"}),
    stands_still: Truth({"STALL"}),
    is_reset_to_earlier: Truth({"REWIND"}, {"rewind"}),
    is_recreated: Truth({"OK", "UNKNOWN"}),
    is_recreated_and_never_read: Truth({"UNKNOWN"}, {"beyond_end"}),
    is_set_beyond_the_end: Truth({"UNKNOWN"}, {"beyond_end"}),
    is_set_beyond_the_end_before_the_only_sample: Truth({"UNKNOWN"}, {"beyond_end"}),
    is_deleted: Truth({"UNKNOWN"}),
}


@pytest.fixture(scope="module")
def derive() -> Iterator[Callable[[str], list[Row]]]:
    chance, history = random.Random(20261126), History()
    for live in LIVES:
        for number in range(EACH):
            live(Partition(history, f"{live.__name__}/{number}", chance))
    records = history.next_offset(0)
    history.read(0, (0, records), records, (0, END))
    with DuckDB() as engine:
        shown: Any = derived_in(engine, history, DERIVED, Span(at(-1), at(END + 30)), DEFAULTS)
        yield shown


@pytest.mark.parametrize("live", LIVES, ids=lambda live: live.__name__)
def test_verdicts_and_anomalies_are_true(live: Callable[[Partition], None], derive: Callable[[str], list[Row]]) -> None:
    own = f"{live.__name__}/"
    statuses = {row["group"]: row["status"] for row in derive("verdicts") if row["group"].startswith(own)}
    assert len(statuses) == EACH
    assert {group: status for group, status in statuses.items() if status not in LIVES[live].statuses} == {}
    anomalies: dict[str, set[str]] = {group: set() for group in statuses}
    for row in derive("anomalies"):
        if row["group"].startswith(own):
            anomalies[row["group"]].add(row["anomaly"])
    assert anomalies == dict.fromkeys(statuses, LIVES[live].anomalies)


def test_progress_is_never_of_two_topics(derive: Callable[[str], list[Row]]) -> None:
    rows = [row for row in derive("commit_rate") if row["group"].startswith("is_recreated/")]
    assert len(rows) > EACH
    assert all(row["rewound"] == 0 and (row["progress"] or 0) >= 0 for row in rows if row["rewound"] is not None)
