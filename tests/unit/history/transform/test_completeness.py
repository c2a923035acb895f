from __future__ import annotations

from tests.fakes.history import History, at, hours
from tests.unit.history.transform.conftest import Show

HIDDEN = "unknown: an open transaction hides the records after the last one read of __consumer_offsets-"


def scene(history: History) -> None:
    _compacted(history)
    _stalled(history)
    # Nobody read for a while.
    history.read(2, (0, 500), 500, (-400, -300))
    history.read(2, (800, 1300), 500, (100, 200))
    history.read(2, (1300, 1800), 500, (200, 300))
    # Still compacted when it was last read; and behind the span.
    history.read(3, (0, 1000), 40, (-400, 100))
    history.read(3, (1000, 2000), 1000, (700, 800))


def _compacted(history: History) -> None:
    """A cleaned head with an uncleaned tail in one range; and transactions, of which many were aborted."""
    head = {"compacted": 58_000, "compacted_to": 60_000, "whole_since": at(30)}
    history.read(7, (0, 180_000), 122_000, (-500, 100), **head)
    history.read(7, (180_000, 180_010), 2, (110, 120), compacted=0)
    history.read(8, (0, 800), 300, (-500, 100), compacted=0)
    history.read(9, (0, 800), 300, (-500, -400), compacted=500, compacted_to=800)
    history.read(9, (800, 900), 100, (20, 90), compacted=0)


def _stalled(history: History) -> None:
    """Transactions hang in partition 4 since 255 s, and in partition 6 since 450 s; in 5 one was open for a moment."""
    for second in range(0, 600, 60):
        history.head(second, 1000 + second, topic="waits")
    for second in range(10, 250, 60):
        history.commit("w-open", second, 990 + second, topic="waits", log_partition=4)
    history.snapshot("w-open", 100, 1, ["a"], log_partition=4)
    history.snapshot("w-left", 50, 3, log_partition=4)
    history.commit("w-old", hours(-1.5), 5, log_partition=4)
    history.commit("w-deleted", 60, 5, log_partition=4)
    history.commit("w-deleted", 70, None, log_partition=4)
    history.sweep(hours(-1.9), "w-swept", {("elsewhere", 0): 5}, complete=False, state="Empty", log_partition=4)
    history.read(4, (0, 30), 30, (hours(-1.5), 250), high_watermark=40)
    history.read(4, (30, 30), 0, (300, 300), high_watermark=2030, unread_since=at(255))
    history.read(4, (30, 30), 0, (360, 360), high_watermark=4030)
    history.read(5, (0, 10), 10, (200, 250), high_watermark=15)
    history.read(5, (10, 10), 0, (300, 300), high_watermark=15, unread_since=at(255))
    history.read(5, (20, 20), 0, (310, 310), high_watermark=25, unread_since=at(309))
    history.commit("w-moment", 200, 5, topic="waits", log_partition=5)
    for second in range(10, 450, 60):
        history.commit("w-half", second, 900 + second // 2, topic="waits", log_partition=6)
    history.read(6, (0, 10), 10, (10, 430), high_watermark=11)
    history.read(6, (10, 10), 0, (500, 500), high_watermark=11, unread_since=at(450))


def test_lag_behind_a_hung_transaction_is_unknown(show: Show) -> None:
    columns = ("sampled_at", "committed_offset", "committed_at", "lag", "time_lag_ms", "remark")
    assert show("lag", *columns, group="w-open")[4:6] == [
        (at(240), 1180, at(190), 60, 60_000, None),
        (at(300), None, None, None, None, f"{HIDDEN}4"),
    ]
    assert show("lag", "lag", group="w-moment")[-1] == 1535


def test_verdict_behind_a_hung_transaction_is_unknown(show: Show) -> None:
    columns = ("group", "status", "group_status", "samples", "last_lag", "remark")
    rows = [row for row in show("verdicts", *columns, topic="waits") if row[0].startswith("w-")]
    assert rows == [
        ("w-half", "WARN", "WARN", 3, 335, f"{HIDDEN}6"),
        ("w-moment", "STOP", "STOP", 5, 1535, None),
        ("w-open", "UNKNOWN", "UNKNOWN", 0, None, f"{HIDDEN}4"),
    ]


def test_state_behind_a_hung_transaction_is_unknown(show: Show) -> None:
    assert show("group_states", "state", "since", "until", "source", group="w-open") == [
        ("Stable", at(100), at(255), "log"),
        ("Unknown", at(255), None, "unread"),
    ]
    assert show("memberships", "until", "unread_since", group="w-open") == [(None, at(255))]


def test_group_behind_a_hung_transaction_is_not_stale(show: Show) -> None:
    """A commit within the last hour is known, whatever was not read."""
    columns = ("group", "status", "state", "last_commit", "commit_age_ms", "unread_since")
    rows = [row for row in show("stale", *columns) if row[0].startswith("w-")]
    assert rows == [
        ("w-deleted", "UNKNOWN", None, at(60), None, at(255)),
        ("w-half", "LIVE", None, at(430), None, at(450)),
        ("w-left", "UNKNOWN", "Unknown", None, None, at(255)),
        ("w-moment", "LIVE", None, at(200), 400_000, None),
        ("w-old", "UNKNOWN", None, at(hours(-1.5)), None, at(255)),
        ("w-open", "LIVE", "Unknown", at(190), None, at(255)),
        ("w-swept", "UNKNOWN", "Empty", None, None, at(255)),
    ]
    assert show("latest_offsets", "unread_since", group="w-old") == [at(255)]


def test_commits_behind_a_hung_transaction_are_incomplete(show: Show) -> None:
    assert show("commit_rate", "bucket", "complete", group="w-half")[-2:] == [(at(360), True), (at(420), False)]


def test_completeness_counts_what_waits_now(show: Show) -> None:
    found = show("completeness", "log_partition", "hung", "unread_since")
    assert found[4:7] == [(4, 4000, at(255)), (5, 0, None), (6, 1, at(450))]


def test_history_is_complete_since_its_last_gap(show: Show) -> None:
    columns = ("log_partition", "from_offset", "to_offset", "records", "missing", "known_since", "hung")
    assert [row for row in show("completeness", *columns) if row[0] < 10] == [
        (0, 0, 5000, 4900, 0, at(hours(-200)), 0),
        (1, 0, 1500, 525, 0, at(150), 7),
        (2, 0, 1800, 1500, 300, at(100), 0),
        (3, 0, 1000, 40, 0, None, 0),
        (4, 0, 30, 30, 0, at(hours(-1.5)), 4000),
        (5, 0, 10, 10, 0, at(200), 0),
        (6, 0, 10, 10, 0, at(10), 1),
        (7, 0, 180_010, 122_002, 0, at(30), 0),
        (8, 0, 800, 300, 0, at(-500), 0),
        (9, 0, 900, 400, 0, at(20), 0),
    ]
    assert [row for row in show("completeness", "log_partition", "density") if row[0] < 10] == [
        (0, 0.98),
        (1, 0.35),
        (2, 1.0),
        (3, 0.04),
        *((each, 1.0) for each in (4, 5, 6)),
        (7, 122_002 / 180_010),
        (8, 0.375),
        (9, 400 / 900),
    ]


def test_anomalies_report_coverage_gaps(show: Show) -> None:
    columns = ("log_partition", "since", "until", "expected", "found", "note")
    assert show("anomalies", *columns, anomaly="coverage_gap") == [
        (1, at(-400), at(100), 0, 1000, "compacted: records at 4 % of the offsets"),
        (2, at(-300), at(100), 500, 800, "300 offsets were never read"),
        (3, at(-400), at(100), 0, 1000, "compacted: records at 4 % of the offsets"),
        (7, at(-500), at(30), 0, 60_000, "compacted: 58000 offsets have no record"),
    ]
