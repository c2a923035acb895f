"""The rows that options select: the same by statistics, by Arrow, and by DuckDB."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from kgroups.history.load.manifest import DataFile
from kgroups.history.stored.derived import Share
from kgroups.history.stored.selection import Selection, pack
from tests.fakes.history import at

TEXTS = st.text("ab-]![*?\\^|&~({+.$ é\n'#", max_size=6)


@given(st.lists(TEXTS.filter(bool), min_size=1, max_size=3), st.lists(TEXTS, min_size=1, max_size=8))
def test_globs_match_as_everywhere(globs: list[str], names: list[str]) -> None:
    expected = [name for name in names if any(name == glob or fnmatchcase(name, glob) for glob in globs)]
    batch = pa.RecordBatch.from_pydict({"group": pa.array(names, pa.string())})
    assert Selection(groups=tuple(globs)).rows(batch)["group"].to_pylist() == expected
    with duckdb.connect() as connection:
        connection.register("names", pa.Table.from_batches([batch]))
        condition = Share(tuple(globs), 0, 1).condition()
        assert [name for (name,) in connection.sql(f"from names where {condition}").fetchall()] == expected


def test_each_group_is_in_one_share() -> None:
    conditions = [Share(None, number, 3).condition() for number in range(3)]
    counts = [
        duckdb.sql(f"select count(*) from (select 'g' || i as `group` from range(300) as r(i)) where {each}")
        for each in conditions
    ]
    found = [each.fetchall()[0][0] for each in counts]
    assert sum(found) == 300
    assert min(found) > 60


def test_row_groups_are_skipped_by_time_and_group(tmp_path: Path) -> None:
    times = pa.array([at(0), at(1), at(2), at(3), None, None], pa.timestamp("us", "UTC"))
    rows = pa.table({"group": ["a", "b", "c", "d", "e", "f"], "log_time": times})
    pq.write_table(rows, tmp_path / "file.parquet", row_group_size=2)
    footer = pq.ParquetFile(tmp_path / "file.parquet").metadata

    def chosen(**selected: object) -> list[int]:
        return Selection("log_time")._replace(**selected).row_groups(footer)

    assert chosen() == [0, 1, 2]
    assert chosen(since=at(2)) == [1, 2]
    assert chosen(until=at(2)) == [0, 2]
    assert chosen(groups=("b", "bb")) == [0]
    assert chosen(groups=("b*",)) == [0, 1, 2]
    assert chosen(groups=("d",), since=at(4)) == []


def test_files_are_chosen_by_time_and_packed_by_size() -> None:
    noon = 1_772_366_400_000_000
    files = [DataFile("commits", f"{n}", 1, 10, noon + n, noon + n) for n in range(5)]
    files.append(DataFile("commits", "unknown", 1, 10))
    assert Selection("log_time").files(files) == files
    assert Selection("log_time", since=at(0.000002)).files(files) == files[2:5]
    assert Selection("log_time", until=at(0.000002)).files(files) == files[:2]
    assert [len(part) for part in pack(files, 25)] == [2, 2, 2]
    assert [len(part) for part in pack(files, 0)] == [1] * 6
