from __future__ import annotations

import json

import pytest

from kgroups.model.duration import Milliseconds, parse_age, parse_seconds


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0"),
        (1, "1ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (59_999, "59s"),
        (60_000, "1m"),
        (61_000, "1m1s"),
        (3_600_000, "1h"),
        (3_659_000, "1h"),
        (11_520_000, "3h12m"),
        (86_399_999, "23h59m"),
        (86_400_000, "1d"),
        (90_000_000, "1d1h"),
        (-250, "-250ms"),
        (-61_000, "-1m1s"),
        (3_650 * 86_400_000, "3650d"),
    ],
)
def test_duration_text_has_two_largest_units(milliseconds: int, text: str) -> None:
    assert str(Milliseconds(milliseconds)) == text


def test_duration_is_a_number_in_json() -> None:
    assert json.dumps(Milliseconds(61_000)) == "61000"
    assert Milliseconds(5) == 5 and hash(Milliseconds(5)) == hash(5)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30), ("500ms", 0.5), (" 10 s ", 10), ("2m", 120), ("1.5h", 5_400), ("1d", 86_400), ("2w", 1_209_600)],
)
def test_parse_seconds_accepts_durations(text: str, seconds: float) -> None:
    assert parse_seconds(text) == parse_age(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "soon", "-1s", "1y", "1e3", "1d2h", "\u0661s", ".", "inf", "nan", "9" * 400, "100001d"]
)
def test_parse_seconds_rejects_other_text(text: str) -> None:
    assert parse_seconds(text) is None and parse_age(text) is None


def test_parse_age_accepts_zero() -> None:
    assert parse_seconds("0s") is None and parse_age("0s") == 0
