from __future__ import annotations

import pytest

from kgroups.errors import UsageError
from kgroups.model.moments import parse_any_duration, parse_duration, parse_moment, parse_time

NOON = 1769860800_000
"""2026-01-31T12:00:00Z"""
NOW = NOON + 86_400_000


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2026-01-31T12:00:00.000", NOON),  # UTC, as the Java tool takes it
        ("2026-01-31T12:00:00.000Z", NOON),
        ("2026-01-31T12:00", NOON),
        ("2026-01-31 12:00:00z", NOON),
        ("2026-01-31T13:30:00+01:30", NOON),
        ("2026-01-31T13:00:00.5+0100", NOON + 500),
        ("2026-01-31T07:00:00,25-05", NOON + 250),
        ("2026-01-31", NOON - 12 * 3600_000),
        ("2026-01-31T12:00:00.0000001Z", NOON + 1),  # no record of that millisecond is older
        ("2026-01-31T12:00:00.001999999", NOON + 2),
        ("1969-12-31T23:59:59.5Z", -500),
    ],
)
def test_parse_moment_accepts_iso_times(text: str, ms: int) -> None:
    assert parse_moment(text) == ms


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2026-02-30T12:00", "2026-01-31T25:00", "2026-01-31T12:00:61", "12:00", "2026-W05"),
        *("20260131T120000", "2026-01-31T12:00+99:00", "2026-01-31T12", "2026-01-31T12:00:00.", "1e9"),
        *("2026-01-31T12:00.5", "2026-01-31T12:00,5Z", "2026-01-31.5"),  # of a minute? of a second?
        "\N{FULLWIDTH DIGIT TWO}026-01-31",
        "0001-01-01T00:00+14:00",
    ],
)
def test_parse_moment_rejects_other_text(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time such as"):
        parse_moment(text)


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("P1DT2H", 26 * 3600_000),
        ("PT90M", 90 * 60_000),
        ("PT0.5S", 500),
        ("PT0,0001S", 1),
        ("P2W", 14 * 86_400_000),
        ("pt1h2m3s", 3723_000),
        ("PT0S", 0),
    ],
)
def test_parse_duration_accepts_iso_durations(text: str, ms: int) -> None:
    assert parse_duration(text) == ms


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1h", "P1H", "PT1D", "P1Y", "P1M", "-PT1H", "PT-1H", "PT1.5H"])
def test_parse_duration_rejects_other_text(text: str) -> None:
    with pytest.raises(UsageError, match="is not a duration such as"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-1h", NOW - 3_600_000),
        (" -90m ", NOW - 5_400_000),
        ("-2d", NOW - 172_800_000),
        ("-1.5h", NOW - 5_400_000),
        ("1769860800500", 1_769_860_800_500),
        ("2026-01-31", 1_769_817_600_000),
        ("2026-01-31T12:00:00.500+01:00", 1_769_857_200_500),
    ],
)
def test_time_as_people_type_it(text: str, expected: int) -> None:
    assert parse_time(text, NOW) == expected


@pytest.mark.parametrize("text", ["1h", "-1", "20260131", "1769860800", "-1h ago", "--1h", "١٧٦٩٨٦٠٨٠٠٥٠٠"])
def test_time_that_could_mean_something_else_is_rejected(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time such as -1h, 2026-01-31"):
        parse_time(text, NOW)


@pytest.mark.parametrize(("text", "expected"), [("90m", 5_400_000), ("7d", 604_800_000), ("PT90M", 5_400_000)])
def test_duration_with_unit_or_in_iso_8601(text: str, expected: int) -> None:
    assert parse_any_duration(text) == expected


@pytest.mark.parametrize("text", ["90", "-1h", "soon", ""])
def test_duration_without_unit_is_rejected(text: str) -> None:
    with pytest.raises(UsageError, match="is not a duration such as 90m"):
        parse_any_duration(text)
