from __future__ import annotations

from tests.fakes.history import History, at, hours

from .conftest import Show


def scene(history: History) -> None:
    history.read(0, (0, 5000), 4900, (hours(-200), 599))
    # Compacted; then whole, with ranges too small to be judged, one of them nothing but markers.
    history.read(1, (0, 1000), 40, (-400, 100))
    history.read(1, (1000, 1010), 5, (150, 160))
    history.read(1, (1010, 1012), 0, (165, 165))
    history.read(1, (1012, 1500), 480, (170, 190), high_watermark=1507)
    # Nobody read for a while.
    history.read(2, (0, 500), 500, (-400, -300))
    history.read(2, (800, 1300), 500, (100, 200))
    history.read(2, (1300, 1800), 500, (200, 300))
    # Still compacted when it was last read; and behind the span.
    history.read(3, (0, 1000), 40, (-400, 100))
    history.read(3, (1000, 2000), 1000, (700, 800))


def test_history_is_complete_since_its_last_gap(show: Show) -> None:
    columns = ("log_partition", "from_offset", "to_offset", "records", "missing", "known_since", "hung")
    assert show("completeness", *columns) == [
        (0, 0, 5000, 4900, 0, at(hours(-200)), 0),
        (1, 0, 1500, 525, 0, at(150), 7),
        (2, 0, 1800, 1500, 300, at(100), 0),
        (3, 0, 1000, 40, 0, None, 0),
    ]
    assert show("completeness", "log_partition", "density") == [(0, 0.98), (1, 0.35), (2, 1.0), (3, 0.04)]


def test_anomalies_report_coverage_gaps(show: Show) -> None:
    columns = ("log_partition", "since", "until", "expected", "found", "note")
    assert show("anomalies", *columns, anomaly="coverage_gap") == [
        (1, at(-400), at(100), 0, 1000, "compacted: records at 4 % of the offsets"),
        (2, at(-300), at(100), 500, 800, "300 offsets were never read"),
        (3, at(-400), at(100), 0, 1000, "compacted: records at 4 % of the offsets"),
    ]
