"""No judge contradicts a simulated world whose truth is known; faults that were found once are caught.

``python -m tests.property.traffic`` judges 100,000 moments; :mod:`tests.property.traffic.judges` has what contradicts
the truth.
"""

from __future__ import annotations

import pytest

from kgroups.model import rates
from kgroups.model.operations.committing import Rhythm
from kgroups.model.rates import Pace, Reading
from kgroups.model.verdicts.judge import Case
from kgroups.model.watch import watching
from tests.property.traffic import judges
from tests.property.traffic.judges import Tally, play, report

WORLDS, TICKS = 40, 240
SOAKED = 1_700
UNKNOWN = {"watch CATCH-UP": 0.7, "check --trend": 0.1}
"""Maximum share of unknown verdicts where evidence suffices, if not 1 %. A lag that is steady is never caught up."""


def run(worlds: int, *, until_wrong: str | None = None) -> Tally:
    tally = Tally()
    for seed in range(worlds):
        play(seed, TICKS, tally)
        if until_wrong and any(until_wrong in each.judge for each in tally.wrong):
            break
    return tally


def check(tally: Tally) -> None:
    assert not tally.wrong, "\n".join([*report(tally), *map(str, tally.wrong[:5])])
    for judge, said in tally.calm.items():
        share = tally.calm_unknown[judge] / said
        assert share <= UNKNOWN.get(judge, 0.01), f"{judge}: {share:.1%} unknown"


def test_no_verdict_contradicts_the_truth() -> None:
    tally = run(WORLDS)
    assert tally.moments == WORLDS * TICKS // judges.EVERY
    check(tally)


@pytest.mark.soak
def test_no_verdict_contradicts_the_truth_in_100_000_moments() -> None:
    check(run(SOAKED))


def _any_continues(self: Reading, before: Reading) -> bool:
    return self.at > before.at and self.places == before.places


def _resets_continue(self: Reading, before: Reading) -> bool:
    return self.is_same_log(before)


def _any_two_readings(readings: list[Reading], at: int = 0) -> Pace | None:
    """Compare the first and the last reading, whenever offsets were committed."""
    first, last = readings[0], readings[-1]
    began, ended = first.ends[at], last.ends[at]
    if len(readings) < 2 or began is None or ended is None:
        return None
    before, lag = began - first.committed[at], ended - last.committed[at]
    consumed = last.committed[at] - first.committed[at]
    return Pace(first.at, last.at, before, lag, before, lag, consumed)


def _of_other_spans(readings: list[Reading], at: int = 0) -> Pace | None:
    """Divide what was written by five minutes (T1)."""
    pace = pace_of(readings, at)
    if pace is None or pace.produced <= 0:
        return pace
    before = pace.lag + pace.consumed - pace.produced * (pace.until - pace.since) // 300_000
    return pace._replace(lag_before=before, least_before=before)


pace_of = rates.pace_of


def _sum_of_partitions(lags: list[int | None], paces: list[Pace | None]) -> float | None:
    known = [pace for pace in paces if pace]
    shrunk = sum((pace.lag_before - pace.lag) * 1000 / (pace.until - pace.since) for pace in known)
    return sum(filter(None, lags)) * 1000 / shrunk if shrunk > 0 else None


def _client_of_any(case: Case) -> Rhythm | None:
    made = case.facts.history.commits if case.facts.history else ()
    return Rhythm("t", 0, 9, 1_000, *made[-1]) if made else None


MUTANTS: dict[str, tuple[str, list[tuple[object, str, object]]]] = {
    "T1: rates of different spans": (
        "explain",
        [(judges, "pace_of", _of_other_spans)],
    ),
    "T1: lags between commits": ("CATCH-UP", [(watching, "pace_of", _any_two_readings)]),
    "T2: resets are consumption": ("OUT/S", [(Reading, "continues", _resets_continue)]),
    "T10: a recreated topic is the same": ("IN/S", [(Reading, "continues", _any_continues)]),
    "T10: the sum of partitions": ("CATCH-UP", [(watching, "catch_up", _sum_of_partitions)]),
    "a rewind over a recreated topic": ("trend", [(Reading, "is_same_log", _any_continues)]),
    "T2: any commit is a client's": ("explain", [(Case, "outsider", property(_client_of_any))]),
}
"""Faults: their name, the judge that must contradict the truth, and what they replace."""


@pytest.mark.parametrize("name", MUTANTS)
def test_fault_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judge, replaced = MUTANTS[name]
    for owner, attribute, fault in replaced:
        monkeypatch.setattr(owner, attribute, fault)
    assert any(judge in each.judge for each in run(30, until_wrong=judge).wrong)
