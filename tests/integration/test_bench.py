"""Programs of ``bench/`` run, and the compared tools print the same rows. Speed is not tested."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.answers import answer, json_rows, text_rows
from bench.scale import COMMANDS, SHAPES
from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from tests.integration.versions import MAIN

ROOT = Path(__file__).parents[2]
LOAD = Load(groups=20, partitions=3, topics=2)
ROWS = LOAD.groups * LOAD.partitions


@pytest.fixture(scope="module")
def bootstrap(require_kafka: Callable[[str], None]) -> Iterator[str]:
    require_kafka(MAIN)
    with Sandbox.up(MAIN, brokers=2, name=f"pytest-{os.getpid()}-bench") as sandbox:
        seed_load(sandbox, LOAD)
        yield sandbox.bootstrap


def run(*words: str) -> str:
    ran = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_bench_wire_reports_all_groups(bootstrap: str) -> None:
    measured = json.loads(run("-m", "bench.wire", bootstrap))
    assert (measured["groups"], measured["rows"], measured["failures"]) == (LOAD.groups, ROWS, 0)
    assert measured["requests"] > 0 < measured["bytes"]


def test_bench_contenders_describe_the_same(bootstrap: str, tmp_path: Path) -> None:
    ours = ("-m", "kgroups", "describe", "--all-groups", "-b", bootstrap)
    contenders = {
        ours: text_rows,
        (*ours, "-o", "json"): json_rows,
        ("bench/peer_adminclient.py", bootstrap): text_rows,
        ("bench/peer_plain.py", bootstrap): text_rows,
    }
    answers = []
    for words, reader in contenders.items():
        (tmp_path / "answer").write_text(run(*words))
        answers.append(answer(tmp_path / "answer", reader))
    assert answers[0].rows == ROWS
    assert len(set(answers)) == 1, answers


def test_bench_reset_peer_moves_empty_groups(bootstrap: str) -> None:
    """It has no word for those that groups with members refuse."""
    assert len(run("bench/peer_reset.py", bootstrap, "latest").splitlines()) == ROWS
    rows = json.loads(run("-m", "kgroups", "describe", "--all-groups", "-o", "json", "-b", bootstrap))["items"]
    empty = [row for row in rows if row["group"].startswith("empty-")]
    assert empty and all(row["current_offset"] == row["log_end_offset"] for row in empty)


def test_bench_exporter_runs(bootstrap: str) -> None:
    result = run("bench/exporter.py", "--bootstrap", bootstrap, "--scrapes", "1")
    assert "is kept" in result


def test_bench_decoders_give_the_same_rows() -> None:
    result = run("bench/decode.py", "--records", "2000", "--rounds", "1")
    assert "The same rows from each." in result


@pytest.mark.soak
def test_bench_load_compares_the_tools(require_kafka: Callable[[str], None]) -> None:
    require_kafka(MAIN)
    result = run("-m", "bench.load", "--groups", "40", "--partitions", "2", "--rounds", "1", "--version", MAIN)
    assert "The rows are the same from each tool." in result


def test_bench_scale_covers_every_command() -> None:
    """Each command prints every group and row of a simulated cluster, or the program fails."""
    table = run("-m", "bench.scale", "--shape", "rows", "--divide", "1000", "--steps", "2")
    assert [f"| `{name}` |" in table for name in COMMANDS] == [True] * len(COMMANDS)


def test_bench_scale_with_a_hung_broker_reports_it() -> None:
    table = run("-m", "bench.scale", "--shape", "brokers", "--divide", "500", "--part", "hung", "--only", "list")
    groups = SHAPES["brokers"].groups // 500
    assert re.search(rf"`list` .* {groups} \| \d+ \| 1 \|", table)


@pytest.mark.parametrize("program", ["run", "reset", "history"])
def test_bench_programs_for_large_clusters_have_help(program: str) -> None:
    """They start thousands of groups; their parts are tested above and checked by mypy."""
    assert f"python bench/{program}.py" in run(f"bench/{program}.py", "--help")


def test_bench_snapshot_prints_times_and_size() -> None:
    printed = run("-m", "bench.snapshot", "--groups", "200", "--runs", "1")
    assert re.search(r"^save: .* MB$", printed, re.MULTILINE) and re.search(
        r"^size: [\d,]+ bytes$", printed, re.MULTILINE
    )
