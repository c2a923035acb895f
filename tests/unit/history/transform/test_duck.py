"""Failures of DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.errors import HistoryError
from kgroups.history.engine import duck
from kgroups.history.engine.duck import DuckDB
from kgroups.history.tables import COMMITS
from tests.unit.history.transform.test_materialize import collected

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


def test_many_small_files_are_read_once_per_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck, "MANY_FILES", 3)
    store = collected(tmp_path, 5)
    files = store.snapshot().files(COMMITS)
    query = "select sum(committed_offset) as total from commits"
    with DuckDB() as engine:
        for loaded, total in ((files, 300), (files[:3], 90), (files[1:], 300)):
            engine.load(store, COMMITS, loaded)
            assert engine.fetch(query).to_pylist() == [{"total": total}]
        engine.rename("commits", "commits_of_a")
        engine.load(store, COMMITS, files[:3])
        for file in files[3:]:
            Path(tmp_path, file.path).unlink()
        assert engine.fetch(query).to_pylist() == [{"total": 90}]
        assert engine.fetch(query.replace("commits", "commits_of_a")).to_pylist() == [{"total": 300}]
