"""Untrusted queries that try to write, to read other things, or to outlive their limits, by command and by MCP."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
from mcp.types import CallToolResult

from kgroups.cli.main import cli, main
from kgroups.history.engine import sealed
from kgroups.history.engine.allowed import allowed
from kgroups.history.load.sql import connect
from kgroups.mcp.bounds import Bounds
from kgroups.mcp.run_tool import Runner, divert_output
from kgroups.mcp.server import ToolServer
from kgroups.mcp.tools import history_tool
from tests.fakes.history import three_commits
from tests.unit.history.transform.escapes import ALLOWED, HUNGRY, REFUSED, WRITES
from tests.unit.mcp.conftest import connected

SECRET = "pa55w0rd"
SECONDS = 1
SLACK = 20
"""Seconds that a busy machine may need to start and end a process."""


EACH = 8


def some_of(queries: Sequence[str]) -> list[Any]:
    """Return all queries; the command runs most of them in ``make soak`` only."""
    return [pytest.param(query, marks=pytest.mark.soak if at % EACH else ()) for at, query in enumerate(queries)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store, next to a file with a secret; temporary files and the working directory are there, too."""
    folder = tmp_path_factory.mktemp("escapes")
    three_commits().stored_in(folder / "store", "east")
    (folder / "secret.csv").write_text(f"password\n{SECRET}\n")
    (folder / "tmp").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder / "tmp"))
        patch.setenv("HOME", str(folder / "tmp"))
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setattr("tempfile.tempdir", None)
        patch.chdir(folder)
        patch.setattr(sealed, "_MEMORY", "500MB")
        yield folder


def filled(query: str, folder: Path) -> str:
    data = next(iter((folder / "store").rglob("commits/*/*.parquet")))
    names = {"file": folder / "secret.csv", "data": data, "new": folder / "new.csv", "folder": folder}
    return query.format(**names) if "{" in query else query


def content(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def harmless(folder: Path) -> Iterator[None]:
    """Check that nothing has changed, and that this process has not grown."""
    before, used = content(folder), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert content(folder) == before
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used < 400_000, "KiB"
    assert not _children()


def _children() -> list[str]:
    found = subprocess.run(
        ["ps", "-o", "args=", "--ppid", str(os.getpid())], check=True, capture_output=True, text=True
    ).stdout
    return [line for line in found.splitlines() if "sealed_process" in line]


def by_command(folder: Path, capsys: pytest.CaptureFixture[str], query: str, *words: str) -> tuple[int, str, str]:
    code = main(("history", "sql", "--untrusted", "--store", str(folder / "store"), *words, "--", query))
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err
    return code, printed.out, printed.err


def by_tool(folder: Path, queries: Sequence[str], seconds: float) -> list[tuple[CallToolResult, float]]:
    """Call the tool with all queries at the same time, of which four run; return results and seconds."""
    offered = (history_tool(str(folder / "store"), 100, seconds),)

    async def run() -> list[tuple[CallToolResult, float]]:
        server = ToolServer(Runner(cli, connected(), quiet=True), offered, Bounds(100, 200_000))

        async def call(query: str) -> tuple[CallToolResult, float]:
            async with slots:
                began = time.monotonic()
                params: Any = type("Params", (), {"name": "query_history", "arguments": {"query": query}})
                return await server._call_tool(None, params), time.monotonic() - began

        slots = asyncio.Semaphore(4)
        return await asyncio.gather(*map(call, queries))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", sys.stdout)
        divert_output()
        return asyncio.run(run())


@pytest.mark.usefixtures("harmless")
@pytest.mark.parametrize("query", some_of(WRITES))
def test_query_that_writes_is_not_one_select(folder: Path, capsys: pytest.CaptureFixture[str], query: str) -> None:
    code, out, err = by_command(folder, capsys, filled(query, folder))
    assert (code, out) == (2, ""), err
    assert err.startswith("kgroups: error: sql: ") and len(err.splitlines()) <= 2


@pytest.mark.usefixtures("harmless")
@pytest.mark.parametrize("query", some_of(REFUSED))
def test_query_reads_nothing_but_tables(folder: Path, capsys: pytest.CaptureFixture[str], query: str) -> None:
    code, out, err = by_command(folder, capsys, filled(query, folder))
    assert (code, out) == (2, ""), err
    assert err.startswith("kgroups: error: sql: ") and len(err.splitlines()) <= 2


@pytest.mark.usefixtures("harmless")
@pytest.mark.parametrize("query", HUNGRY, ids=lambda query: query[:60])
def test_hungry_query_ends_at_its_limits(folder: Path, capsys: pytest.CaptureFixture[str], query: str) -> None:
    began = time.monotonic()
    code, _, err = by_command(folder, capsys, query.replace("{{", "{").replace("}}", "}"), f"--max-time={SECONDS}s")
    assert time.monotonic() - began < SECONDS + SLACK
    assert code in (0, 1, 2) and "Traceback" not in err
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2_500_000, "KiB"


@pytest.mark.usefixtures("harmless")
@pytest.mark.parametrize("each", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_tool_holds_against_all_escapes(folder: Path, each: int) -> None:
    queries = [filled(query, folder) for query in (*WRITES, *REFUSED) if query]
    assert len(queries) > 150
    queries = queries[::each]
    for query, (result, _) in zip(queries, by_tool(folder, queries, 60), strict=True):
        assert result.is_error and SECRET not in str(result), query
        assert result.structured_content["reason"] == "invalid_usage", (query, result.content)


@pytest.mark.usefixtures("harmless")
def test_tool_frees_its_place_at_the_limit(folder: Path) -> None:
    queries = [query.replace("{{", "{").replace("}}", "}") for query in HUNGRY if len(query) < 50_000]
    for query, (result, seconds) in zip(queries, by_tool(folder, queries, SECONDS), strict=True):
        assert seconds < SECONDS + SLACK, query
        assert len(str(result)) < 1_000_000


@pytest.mark.parametrize("query", ALLOWED, ids=lambda query: query[:60])
def test_allowed_query_has_the_rows_of_the_trusted_engine(
    folder: Path, capsys: pytest.CaptureFixture[str], query: str
) -> None:
    query = filled(query, folder)
    code, out, err = by_command(folder, capsys, query, "-o", "json")
    assert code == 0, err
    assert main(("history", "sql", "--store", str(folder / "store"), "-o", "json", query)) == 0
    trusted = json.loads(capsys.readouterr().out)
    assert json.loads(out) == trusted | {"has_more": False}
    assert trusted["items"] or any(name in query for name in ("verdicts", "anomalies", "completeness", "from lag"))


def test_every_function_of_duckdb_is_classified(tmp_path: Path) -> None:
    """After an update of DuckDB, look at each new function: does it read or change anything but its arguments?"""
    kinds = {"table": "table", "table_macro": "table", "pragma": "pragma"}
    with connect(str(tmp_path)) as connection:
        rows = connection.execute("select distinct function_type, function_name from duckdb_functions()").fetchall()
    found = {(kinds.get(kind, "scalar"), name.replace(" ", "_").lower()) for kind, name in rows}
    classified = {(kind, name) for kind, name in allowed() if kind in ("scalar", "table", "pragma")}
    assert found - classified == set(), f"add these of DuckDB {duckdb.__version__} to allowed.txt"
    assert classified - found == set(), f"remove these, which DuckDB {duckdb.__version__} does not have"


def test_process_of_the_query_has_no_secret_and_ends_with_its_parent(folder: Path) -> None:
    """A parent that is killed leaves no process, though the query runs."""
    code = (
        "import sys; from kgroups.history.engine.sealed import SealedDuckDB\n"
        "with SealedDuckDB((), 1, 600) as engine:\n"
        "    print(engine._process.pid, flush=True)\n"
        "    engine.ask('select count(*) from range(10000000000) a, range(1000000000) b where a.range % 7 = b.range')"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        environ = Path(f"/proc/{child}/environ")
        if environ.exists():
            _until(lambda: Path(f"/proc/{child}/cmdline").read_bytes().count(b"sealed_process") == 1)
            assert SECRET.encode() not in environ.read_bytes() and b"HOME=" not in environ.read_bytes()
        parent.kill()
    _until(lambda: not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/status").read_text()[:60])


def _until(is_true: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < until
        time.sleep(0.05)
