"""Failures of DuckDB."""

from __future__ import annotations

import pytest

from kgroups.errors import HistoryError
from kgroups.pipeline.engine.duck import DuckDB

LARGE = "select range || repeat('x', 50) as text from range(2000000) order by text"


def test_query_without_enough_memory_is_one_line_with_a_way_out() -> None:
    with DuckDB() as engine:
        engine.fetch("set memory_limit = '10MB'")
        engine.fetch("set max_temp_directory_size = '1MB'")
        for run in (engine.fetch, lambda query: engine.define("sorted_texts", query)):
            with pytest.raises(HistoryError, match="not enough memory, or disk space") as found:
                run(LARGE)
            assert "\n" not in str(found.value)
            assert found.value.hint == "use --engine spark, or read less with --since"
