from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest

from kgroups.history.run.options import Ago


@pytest.mark.parametrize(
    ("text", "age"),
    [("7d", timedelta(days=7)), ("2w", timedelta(weeks=2)), ("90 m", timedelta(minutes=90)), ("0h", timedelta())],
)
def test_ago_reads_durations(text: str, age: timedelta) -> None:
    before = datetime.now(UTC)
    found = Ago().convert(text, None, None)
    assert before - age <= found <= datetime.now(UTC) - age


def test_ago_reads_digits_as_a_date() -> None:
    assert Ago().convert("20260131", None, None) == datetime(2026, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize("text", ["soon", "30", "1y", f"{'9' * 400}d"])
def test_ago_rejects_other_text(text: str) -> None:
    with pytest.raises(click.BadParameter):
        Ago().convert(text, None, None)
