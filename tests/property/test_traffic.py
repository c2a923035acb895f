"""No judge contradicts a simulated world whose truth is known; faults that were found once are caught.

``python -m tests.property.traffic`` judges 100,000 moments; :mod:`tests.property.traffic.judges` has what contradicts
the truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from kgroups.model import rates, subscriptions
from kgroups.model.duration import Milliseconds
from kgroups.model.groups import Group
from kgroups.model.health import amounts, assigned, headroom, lag, state, trend
from kgroups.model.health import judge as judging
from kgroups.model.health.burrow import OffsetSample
from kgroups.model.health.findings import Seen
from kgroups.model.offsets import Logs
from kgroups.model.operations.commit_history import History
from kgroups.model.operations.committing import Rhythm
from kgroups.model.rates import Outlook, Pace, Place, Reading
from kgroups.model.subscriptions import Subscribed
from kgroups.model.time_lag import FirstUnread, TimeLag
from kgroups.model.verdicts.judge import Case
from kgroups.model.views import lag_summary
from kgroups.model.views.lag_rows import Tally as Sums
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow
from kgroups.watch.state import watching
from kgroups.watch.state.log_ends import LogEnds
from tests.property.traffic import judges
from tests.property.traffic.judges import Tally, play, report

WORLDS, TICKS = 40, 240
MUTATED = 400
"""Worlds of which one, at least, must have the situation of a fault; most faults are caught in the first ones."""
SOAKED = 1_700
UNKNOWN = {"watch CATCH-UP": 0.25, "watch STATUS": 0.25, "check --trend": 0.1, "short trend": 0.2}
"""Maximum share of unknown verdicts where evidence suffices, if not 1 %.

CATCH-UP and STATUS are those of 24 s, in which members that commit every 12 s may commit once, and transactions may be
open. A short trend is shorter than the time between two commits of many members.
"""


def run(worlds: Iterable[int], *, until_wrong: str | None = None) -> Tally:
    tally = Tally()
    for seed in worlds:
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
    tally = run(range(WORLDS))
    assert tally.moments == WORLDS * TICKS // judges.EVERY
    check(tally)


@pytest.mark.soak
def test_no_verdict_contradicts_the_truth_in_100_000_moments() -> None:
    check(run(range(SOAKED)))


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


def _sum_of_partitions(readings: list[Reading], lags: list[int | None], _: Reading | None = None) -> Outlook:
    known = [pace for at, lag in enumerate(lags) if lag and (pace := pace_of(readings, at))]
    shrunk = sum((pace.lag_before - pace.lag) * 1000 / (pace.until - pace.since) for pace in known)
    return Outlook(Milliseconds(sum(filter(None, lags)) * 1000 / shrunk) if shrunk > 0 else None)


def _is_young(readings: list[Reading], at: int, _: Reading) -> bool:
    committed, now = readings[-1].committed[at], readings[-1].at
    return any((each.ends[at] or 0) <= committed and now - each.at <= 10_000 for each in readings)


is_usual = Pace.is_usual


def _client_of_any(case: Case) -> Rhythm | None:
    made = case.facts.history.commits if case.facts.history else ()
    return Rhythm("t", 0, 9, 1_000, *made[-1]) if made else None


window, tally_of, add = trend._window, lag_summary.tally_of, LogEnds.add
without_commit_or_owner = lag_summary._without_commit_or_owner


def _changed_at(self: History) -> int | None:
    return self.progressed(self.commits[-1][1]) if self.commits else None


def _without_doubt(seen: Sequence[Seen], place: Place, samples: Sequence[OffsetSample]) -> trend._Window:
    return window(seen, place, samples)._replace(doubt=None)


def _credit(rows: Iterable[OffsetRow], *words: Any, **options: Any) -> Sums:
    every = list(rows)
    ahead = sum(row.lag for row in every if row.lag is not None and row.lag < 0)
    tally = tally_of(every, *words, **options)
    total, known = tally.total_lag, tally.known_lag
    return tally._replace(
        total_lag=None if total is None else total + ahead, known_lag=None if known is None else known + ahead
    )


def _any_age(lag: int | None, unread: FirstUnread | None, now: int) -> TimeLag:
    at = unread.timestamp if unread else None
    return TimeLag(None if lag is None or at is None else Milliseconds(now - at))


def _no_subscriptions(_group: Group) -> Subscribed:
    return Subscribed(frozenset(), False)


def _of_any_topic(self: LogEnds, now: float, ends: Iterable[tuple[Place, int]], _ids: object) -> None:
    add(self, now, ends)


def _if_members(offsets: GroupOffsets) -> Iterable[OffsetRow]:
    return without_commit_or_owner(offsets) if offsets.group.members else ()


MUTANTS: dict[str, tuple[str, int, list[tuple[object, str, object]]]] = {
    "T1: rates of different spans": (
        "explain",
        0,
        [(judges, "pace_of", _of_other_spans)],
    ),
    "T1: lags between commits": ("CATCH-UP", 0, [(rates, "pace_of", _any_two_readings)]),
    "T2: resets are consumption": ("OUT/S", 1, [(Reading, "continues", _resets_continue)]),
    "T10: a recreated topic is the same": ("IN/S", 6, [(Reading, "continues", _any_continues)]),
    "T10: the sum of partitions": ("CATCH-UP", 7, [(watching, "outlook", _sum_of_partitions)]),
    "any lag is usual": ("CATCH-UP", 0, [(rates, "is_recent", lambda *_: True)]),
    "a lag that grew is usual": (
        "CATCH-UP",
        27,
        [(Pace, "is_usual", lambda pace, _: pace.direction != "shrank")],
    ),
    "a lag that nobody reads is usual": ("watch STATUS", 1, [(rates, "is_recent", _is_young)]),
    "a lag is that of the last commit": (
        "watch STATUS",
        39,
        [(Pace, "is_usual", lambda pace, _: is_usual(pace, pace.lag)), (Pace, "lasts", lambda *_: True)],
    ),
    "a lag that may have changed is the same": ("CATCH-UP", 16, [(Pace, "is_same", property(lambda _: True))]),
    "a rewind over a recreated topic": ("trend", 6, [(Reading, "is_same_log", _any_continues)]),
    "T2: any commit is a client's": ("explain", 9, [(Case, "outsider", property(_client_of_any))]),
    "T2: a reset is progress": ("check --trend", 96, [(trend, "_window", _without_doubt)]),
    "T3: a commit beyond the end makes up for others": ("total lag", 6, [(lag_summary, "tally_of", _credit)]),
    "T3: check, too": ("check --lag", 49, [(amounts, "tally_of", _credit), (amounts, "ahead_text", lambda _: "")]),
    "T4: a record of the future is young": ("check --time-lag", 6, [(lag_summary, "time_lag", _any_age)]),
    "T5: subscriptions are unknown": ("total lag", 1, [(subscriptions, "subscribed", _no_subscriptions)]),
    "T5: a topic that was left stops the group": ("check --trend", 1, [(trend, "left_topics", lambda *_: frozenset())]),
    "T8: offsets in transactions are invisible": ("check --stopped", 6, [(state, "pending_remark", lambda _: [])]),
    "T10: times of an earlier topic": ("exporter", 29, [(LogEnds, "add", _of_any_topic)]),
    "T17: what ACLs hide is not there": (
        "check --lag",
        178,
        [(judging, "_despite", lambda _hidden, finding, _limits: finding)],
    ),
    "T28: partitions without members do not count": (
        "check --lag",
        12,
        [(lag_summary, "_without_commit_or_owner", _if_members)],
    ),
    "T28: partitions without a leader do not count": ("total lag", 179, [(Logs, "holes_of", lambda *_: [])]),
    "T29: an owner reads what it does not subscribe to": (
        "check --assigned",
        3,
        [(assigned, "not_owners", lambda _group: frozenset())],
    ),
    "a stop between two commits": ("short trend", 1, [(trend, "_unsure", lambda *_: None)]),
    "a stop after a commit of the same offset": ("short trend", 75, [(History, "last", property(_changed_at))]),
    "a stop if no member commits": ("short trend", 1, [(History, "of_present_members", lambda _: ())]),
    "T30: lost records are not unread": (
        "check --time-lag",
        55,
        [(lag, "unless_lost", lambda finding, _: finding)],
    ),
    "T30: nor do they lack headroom": ("check --headroom", 55, [(headroom, "unless_lost", lambda finding, _: finding)]),
}
"""Faults: their name, the judge that must contradict the truth, the first world that shows it, and what they replace.

After a change of the simulator, another world may be the first: all are tried, but that one before.
"""


@pytest.mark.parametrize("name", MUTANTS)
def test_fault_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said, first, replaced = MUTANTS[name]
    for owner, attribute, fault in replaced:
        monkeypatch.setattr(owner, attribute, fault)
    worlds = (first, *(world for world in range(MUTATED) if world != first))
    assert any(said in each.judge for each in run(worlds, until_wrong=said).wrong)
