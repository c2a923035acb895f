"""Lag of groups over time, and Burrow's verdicts."""

from __future__ import annotations

from kgroups.model.lag import remark
from kgroups.model.offsets import LogOffsets
from tests.fakes.history import NOON, History, at, hours
from tests.unit.history.transform.conftest import Show

SAMPLES = range(0, 600, 60)
"""Every minute; the rules of these tests judge the last five of them: 300, 360, 420, 480, 540."""


def scene(history: History) -> None:
    # A log that grows by ten records a second, and was sampled before the span too.
    for second in (-60, *SAMPLES):
        history.head(second, 1000 + 10 * second, start=600 if second >= 300 else 0, topic="grows")
    history.commit("lag", 45, 1150, topic="grows")
    history.commit("lag", 119, 2200, topic="grows")  # the end, as it is sampled next
    history.commit("lag", 130, None, topic="grows")
    history.commit("lag", 190, 300, topic="grows")  # older than the first sample
    history.commit("lag", 245, 450, topic="grows")  # the clock is ahead: its time is 245, the next one's 200
    history.commit("lag", 200, 700, topic="grows")
    history.commit("lag", 290, 580, topic="grows")
    history.commit("lag", 360, 1000, topic="grows")  # at the time of a sample
    history.commit("lag", 410, 99_999, topic="grows")

    # The topic is idle, grows at once, does not respond, and is recreated.
    for second, end in {0: 100, 60: 100, 120: 100, 180: 400, 240: None, 300: 50, 360: 150}.items():
        history.head(second, end, topic="odd")
    history.commit("odd", -1, 100, topic="odd")
    history.commit("odd", 310, 70, topic="odd")

    # The first sample was taken in 1970, by the clock of a machine that was just turned on.
    for second, end in {hours(1) - NOON.timestamp(): 100, 60: 1000, 120: 1600}.items():
        history.head(second, end, topic="reset")
    history.commit("reset", 30, 500, topic="reset")
    history.commit("reset", 90, 1300, topic="reset")

    _fares(history)


def _fares(history: History) -> None:
    """Groups on one log, which grows by a hundred records a minute; how far each commits at each minute."""
    for second in SAMPLES:
        history.head(second, 1000 + 100 * second // 60, topic="fares")
    for second in SAMPLES[-3:]:
        history.head(second, 100, topic="fares-fresh")
    early, late = SAMPLES[:4], SAMPLES[4:]
    for minute, second in enumerate(SAMPLES):
        after = second + 1
        end = 1000 + 100 * minute
        history.commit("fares-ok", after, end - 50 if minute % 2 else end + 100, topic="fares")
        history.commit("fares-slow", after, end - 10 * minute, topic="fares")
        history.commit("fares-catches-up", after, end - (300 if minute < 7 else 200), topic="fares")
        if second in early:
            history.commit("fares-stops", after, end - 500, topic="fares")
        history.commit("fares-stalls", after, 400 if second in late[:-6] or second > 200 else minute, topic="fares")
        history.commit("fares-rewinds", after, end - (900 if minute >= 7 else 100), topic="fares")
        history.commit("fares-returns", after, end - (900 if minute == 6 else 400), topic="fares")
        history.commit("fares-mixed", after, end + 100, topic="fares")
    history.commit("fares-mixed", 10, 5, topic="fares-fresh")
    history.commit("fares-deleted", 10, 5, topic="fares")
    history.commit("fares-deleted", 500, None, topic="fares")


def test_lag_at_each_sample(show: Show) -> None:
    columns = ("sampled_at", "committed_offset", "log_end", "lag", "time_lag_ms")
    assert show("lag", *columns, group="lag") == [
        (at(0), None, 1000, None, None),
        (at(60), 1150, 1600, 450, 45_000),
        (at(120), 2200, 2200, 0, 0),
        (at(180), None, 2800, None, None),
        (at(240), 300, 3400, 3100, None),
        (at(300), 580, 4000, 3420, 342_000),
        (at(360), 1000, 4600, 3600, 360_000),
        (at(420), 99_999, 5200, -94_799, None),
        (at(480), 99_999, 5800, -94_199, None),
        (at(540), 99_999, 6400, -93_599, None),
    ]


def test_time_lag_that_cannot_be_true_is_unknown(show: Show) -> None:
    columns = ("sampled_at", "lag", "time_lag_ms")
    found = show("lag", *columns, group="reset")
    assert found[-2:] == [(at(60), 500, None), (at(120), 300, 30_000)]


def test_lag_remarks_match_the_model(show: Show) -> None:
    columns = ("committed_offset", "log_start", "log_end", "remark")
    rows = show("lag", *columns, group="lag")
    assert [row[3] for row in rows] == [remark(row[0], LogOffsets(row[1], row[2])) for row in rows]
    assert {row[3] for row in rows} >= {"data lost: 20 offsets deleted before they were read", None}


def test_lag_of_idle_missing_or_recreated_log(show: Show) -> None:
    columns = ("sampled_at", "committed_offset", "lag", "time_lag_ms", "remark")
    assert show("lag", *columns, group="odd") == [
        (at(0), 100, 0, 0, None),
        (at(60), 100, 0, 0, None),
        (at(120), 100, 0, 0, None),
        (at(180), 100, 300, 60_000, None),
        (at(240), 100, None, None, None),
        (at(300), 100, -50, None, "committed beyond the end of the log"),
        (at(360), 70, 80, 48_000, None),
    ]


def test_lag_of_deleted_commits_is_not_shown(show: Show) -> None:
    assert show("lag", "committed_at", group="fares-stops")[-1] == at(181)
    assert len(show("lag", "lag", group="fares-deleted")) == len(SAMPLES)


def test_verdicts_match_burrow(show: Show) -> None:
    found = dict(show("verdicts", "group", "status", topic="fares"))
    assert found == {
        "fares-ok": "OK",
        "fares-slow": "WARN",
        "fares-catches-up": "OK",
        "fares-stops": "STOP",
        "fares-stalls": "STALL",
        "fares-rewinds": "REWIND",
        "fares-returns": "OK",
        "fares-mixed": "OK",
    }
    columns = ("samples", "since", "until", "first_lag", "last_lag", "first_offset", "last_offset")
    assert show("verdicts", *columns, group="fares-slow") == [(5, at(300), at(540), 140, 180, 1360, 1720)]


def test_group_verdict_is_that_of_its_worst_partition(show: Show) -> None:
    columns = ("topic", "status", "group_status", "samples")
    assert show("verdicts", *columns, group="fares-mixed") == [
        ("fares", "OK", "UNKNOWN", 5),
        ("fares-fresh", "UNKNOWN", "UNKNOWN", 3),
    ]
