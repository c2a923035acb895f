"""The job of ``kgroups history report``, and errors before Spark starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgroups.errors import HistoryError, UsageError
from kgroups.history.load.store import Store
from kgroups.history.run.report import run_report
from kgroups.history.transform.definitions import Span
from tests.fakes.report import at

NO_SPARK: Any = None


def test_report_with_inverted_time_range_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--since 2026-02-28T14:00:00Z is not before --until 2026-02-28T13:00:00Z"):
        run_report(NO_SPARK, Store(str(tmp_path)), Span(at(2), at(1)), tmp_path / "report.html")


def test_report_over_another_file_requires_force(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        run_report(NO_SPARK, Store(str(tmp_path)), Span(at(1), at(2)), path)


def test_report_without_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="holds no history"):
        run_report(NO_SPARK, Store(str(tmp_path)), Span(at(1), at(2)), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
