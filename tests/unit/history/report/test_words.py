"""Values as text."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from kgroups.history.report import words


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, words.ABSENT),
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1000, "1 k"),
        (1234, "1.23 k"),
        (12_345, "12.3 k"),
        (999_949, "1 M"),
        (123_456_789, "123 M"),
        (5_000_000_000, "5 B"),
        (2_500_000_000_000, "2.5 T"),
        (-1500, "\N{MINUS SIGN}1.5 k"),
        (0.1234, "0.12"),
        (10.04, "10"),
    ],
)
def test_number_has_three_digits(value: float | None, shown: str) -> None:
    assert words.number(value) == shown


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (None, words.ABSENT),
        (0, "0 ms"),
        (999, "999 ms"),
        (1500, "1.5 s"),
        (59_999, "1 min"),
        (61_000, "1 min 1 s"),
        (3_600_000, "1 h"),
        (11_520_000, "3 h 12 min"),
        (90_000_000, "1 d 1 h"),
        (-61_000, "\N{MINUS SIGN}1 min 1 s"),
    ],
)
def test_duration_has_two_units(ms: int | None, shown: str) -> None:
    assert words.duration(ms) == shown


def test_moment_is_utc_and_iso() -> None:
    time = datetime(2026, 3, 1, 14, 30, 5, 678_901, timezone(timedelta(hours=2)))
    assert words.moment(time) == "2026-03-01T12:30:05Z"
    assert words.exact_moment(time) == "2026-03-01T12:30:05.678Z"
    assert words.moment(None) == words.exact_moment(None) == words.ABSENT
    assert words.moment(datetime(2026, 3, 1, tzinfo=UTC)) == "2026-03-01T00:00:00Z"


def test_exact_number_has_all_digits() -> None:
    assert (words.exact(1_234_567), words.exact(None)) == ("1,234,567", words.ABSENT)
    assert (words.count(1, "group"), words.count(0, "group"), words.count(2, "entry", "entries")) == (
        "1 group",
        "0 groups",
        "2 entries",
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("orders", "orders"),
        ("a\u202eb", r"a\u202eb"),
        ("\x1b[31m\x00\n", r"\x1b[31m\x00\n"),
        ("lone \ud800", r"lone \ud800"),
        ("", '""'),
        ("  ", r"\x20\x20"),
        ("x" * 121, "x" * 120 + "…"),
    ],
)
def test_visible_text_is_escaped_and_short(text: str, shown: str) -> None:
    assert words.visible(text) == shown
    shown.encode()


@pytest.mark.parametrize(
    ("length", "most", "of", "step"),
    [
        (timedelta(days=1), 100, 1, timedelta(minutes=15)),
        (timedelta(hours=1), 100, 1, timedelta(minutes=1)),
        (timedelta(minutes=1), 100, 1, timedelta(seconds=1)),
        (timedelta(days=1), 2000, 60, timedelta(minutes=1)),
        (timedelta(days=7), 100, 120, timedelta(hours=2)),
        (timedelta(days=365), 100, 1, timedelta(days=4)),
        (timedelta(days=20_000), 100, 86_400, timedelta(days=200)),
    ],
)
def test_bucket_is_round_and_limits_their_count(length: timedelta, most: int, of: int, step: timedelta) -> None:
    assert words.bucket(length, most, of=timedelta(seconds=of)) == step
    assert length / step <= most


@pytest.mark.parametrize("char", ["x", "&", "\N{GRINNING FACE}", "\u202e", "\U000e0001", "'", "\\"])
def test_visible_text_has_a_limited_size_as_html(char: str) -> None:
    shown = words.visible(char * 1000, 60)
    assert shown.endswith("…") and 50 <= len(html.escape(shown[:-1]).encode()) <= 60


@pytest.mark.parametrize(
    ("group", "anchor"),
    [
        ("payments.v2_eu-1", "group-payments.v2_eu-1"),
        ("my group", "group-my~20group"),
        ("my~20group", "group-my~7e20group"),
        ("", "group-"),
        ("é\ud800", "group-~c3~a9~ed~a0~80"),
    ],
)
def test_anchor_is_readable(group: str, anchor: str) -> None:
    assert words.anchor(group) == anchor


def test_anchors_are_stable_unique_and_short() -> None:
    names = ["x" * length for length in range(55, 300)] + ["A", "a", "a ", "~", "~~", "x" * 60 + "~~" + "y" * 16]
    anchors = list(map(words.anchor, names))
    assert len(set(anchors)) == len(names)
    assert all(len(each) <= 90 and re.fullmatch(r"[A-Za-z0-9._~-]+", each) for each in anchors)
    assert words.anchor("x" * 61) == words.anchor("x" * 61)
