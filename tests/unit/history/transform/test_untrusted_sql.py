"""``kgroups history sql --untrusted``: the limits of an untrusted query."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kgroups.cli.main import main
from kgroups.history.engine import sealed
from tests.fakes.history import three_commits
from tests.schemas import validate_output

SECRET = "pa55w0rd"
Asked = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, next to a file with a secret."""
    folder = tmp_path_factory.mktemp("untrusted")
    three_commits().stored_in(folder / "store", "east")
    (folder / "secret.csv").write_text(f"password\n{SECRET}\n")
    return folder


@pytest.fixture
def asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    def run(query: str, *words: str) -> tuple[int, str, str]:
        code = main(("history", "sql", "--untrusted", "--store", str(folder / "store"), *words, "--", query))
        printed = capsys.readouterr()
        validate_output(words, printed.out)
        return code, *printed

    return run


@pytest.mark.parametrize("words", [(), ("--all-clusters",)])
def test_untrusted_select_has_the_rows_of_the_same_query(
    asked: Asked, folder: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    query = "select `group`, sum(committed_offset) as total, max(commit_time) as last from commits group by 1"
    code, out, _ = asked(query, "-o", "json", *words)
    assert main(("history", "sql", "--store", str(folder / "store"), *words, "-o", "json", query)) == code == 0
    found = json.loads(out)
    assert found.pop("has_more") is False and found == json.loads(capsys.readouterr().out)
    assert found["items"][0]["total"] == 303


def test_untrusted_select_of_a_derived_table(asked: Asked) -> None:
    code, out, _ = asked("with recent as (from stale) select count(*) as groups from recent", "-o", "csv")
    assert (code, out.split()) == (0, ["groups", "1"])


def test_untrusted_select_in_a_relative_store(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    code = main(("history", "sql", "--untrusted", "--store", "store", "select count(*) as n from commits", "-o", "csv"))
    assert (code, capsys.readouterr().out.split()) == (0, ["n", "3"])


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('{file}')",
        "select * from read_text('{file}')",
        "select * from read_blob('{file}')",
        "select * from '{file}'",
        "select * from sniff_csv('{file}')",
        "select * from query('select * from read_text(''{file}'')')",
        "select (select content from read_text('{file}')) from commits",
        "with found as (from read_text('{file}')) select * from commits, found",
        "select * from glob('{folder}/*')",
        "select * from duckdb_secrets()",
        "select * from read_parquet('https://127.0.0.1:1/x.parquet')",
        "select * from parquet_metadata('{file}')",
    ],
)
def test_untrusted_select_reads_no_files(asked: Asked, folder: Path, query: str) -> None:
    code, out, err = asked(query.format(file=folder / "secret.csv", folder=folder))
    assert (code, out) == (2, ""), err
    assert SECRET not in err and "sql: " in err


@pytest.mark.parametrize(
    "query",
    [
        "copy commits to '{folder}/copy.csv'",
        "copy (select 1) to '{file}'",
        "export database '{folder}/exported'",
        "attach '{folder}/new.db'",
        "create table t as select 1",
        "drop view commits",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "pragma database_list",
        "call pragma_version()",
        "select 1; copy commits to '{folder}/copy.csv'",
        "select 1; select 2",
        "",
    ],
)
def test_untrusted_query_is_one_select(asked: Asked, folder: Path, query: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    code, out, err = asked(query.format(file=folder / "secret.csv", folder=folder))
    assert (code, out) == (2, "") and "the query must be one SELECT statement" in err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_untrusted_query_sees_no_variables_of_the_program(asked: Asked) -> None:
    for name in ("batches", "found", "reader"):
        assert asked(f"select * from {name}")[0] == 2


def test_untrusted_query_returns_at_most_some_rows(asked: Asked) -> None:
    code, out, err = asked("select * from range(100000000)", "--max-rows", "2", "-o", "csv")
    assert (code, out.split()) == (0, ["range", "0", "1"])
    assert "rows are missing: the result has more than 2 rows; select fewer" in err
    code, out, err = asked("select committed_offset as o from commits order by o", "--max-rows", "3", "-o", "csv")
    assert (code, out.split()) == (0, ["o", "100", "101", "102"]) and "missing" not in err
    assert json.loads(asked("select * from range(5)", "--max-rows", "2", "-o", "json")[1])["has_more"] is True


def test_result_that_the_default_limit_cuts_is_incomplete(asked: Asked) -> None:
    code, out, err = asked("from range(10001)", "-o", "csv")
    assert (code, len(out.split())) == (1, 10_001) and "rows are missing: the result has more than 10,000 rows" in err
    assert asked("from range(10000)", "-o", "csv")[::2][0] == 0


def test_quiet_does_not_hide_that_rows_are_missing(asked: Asked) -> None:
    for output in ("csv", "jsonl"):
        code, _, err = asked("from range(3)", "--max-rows", "1", "-q", "-o", output)
        assert code == 0 and err.startswith("kgroups: rows are missing: the result has more than 1 row; ")


def test_result_that_is_too_large_is_an_error(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "LARGEST", 10_000_000)
    code, out, err = asked("select repeat('x', 100000 + range::int) as text from range(9000)", "-o", "csv")
    assert (code, out) == (2, "") and "sql: the result is larger than 10 MB" in err


def test_lack_of_memory_names_no_option_that_is_not_allowed(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "_MEMORY", "50MB")
    code, out, err = asked("select list(range) as numbers from range(30000000)", "-o", "csv")
    assert (code, out) == (1, "") and "not enough memory" in err
    assert "spark" not in err and "hint: read less" in err


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("'nan'::double", "nan"),
        ("'-inf'::double", "-inf"),
        ("1.5", 1.5),
        ("170141183460469231731687303715884105727::hugeint", 2**127 - 1),
        ("'\\xAA'::blob", "aa"),
        ("{'at': timestamp '2026-01-31', 'data': '\\xAA'::blob}", {"at": "2026-01-31T00:00:00.000Z", "data": "aa"}),
        ("map {'a': 1.5}", [["a", 1.5]]),
        ("time '10:00'", "10:00:00"),
    ],
)
def test_values_of_all_types_have_valid_json(asked: Asked, value: str, shown: object) -> None:
    code, out, err = asked(f"select {value} as v", "-o", "json")

    def reject(constant: str) -> None:
        raise AssertionError(constant)

    assert code == 0, err
    assert json.loads(out, parse_constant=reject)["items"] == [{"v": shown}]


@pytest.mark.parametrize("value", ["timestamp 'infinity'", "date 'infinity'", "timestamptz '294246-01-01'"])
def test_value_without_a_form_is_an_error(asked: Asked, value: str) -> None:
    code, out, err = asked(f"select {value} as late", "-o", "json")
    assert (code, out) == (2, "") and "column late: a value of the type " in err and "CAST" in err


def test_json_with_two_columns_of_one_name_is_an_error(asked: Asked) -> None:
    for output in ("json", "jsonl"):
        code, out, err = asked("select 1 as a, 2 as a", "-o", output)
        assert (code, out) == (2, "") and "several columns a" in err
    assert asked("select 1 as a, 2 as a", "-o", "csv")[:2] == (0, "a,a\n1,2\n")


@pytest.mark.parametrize("columns", ["count(*)", "a.range"])
def test_untrusted_query_ends_at_its_time_limit(asked: Asked, columns: str) -> None:
    query = f"select {columns} from range(100000000) a, range(100000000) b where (a.range * b.range) % 700000000000 = 3"
    code, out, err = asked(query, "--max-time", "300ms")
    assert (code, out) == (1, "")
    assert "the query took longer than 0.3 s" in err and "hint: read less" in err


def test_limits_require_untrusted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("history", "sql", "--store", "s", "--max-rows", "2", "select 1")) == 2
    assert "--max-rows and --max-time require --untrusted" in capsys.readouterr().err
    assert main(("history", "sql", "--store", "s", "--untrusted", "--engine", "spark", "select 1")) == 2
    assert "--untrusted runs in DuckDB" in capsys.readouterr().err
