"""An unreachable cluster: ``-o json`` still prints its envelope, with the reason."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.broker import FakeCluster

Run = Callable[..., tuple[int, str, str]]
KEYS = ["schema", "cluster_id", "items", "failures", "notices", "missing_acls"]


@pytest.fixture
def closed_port() -> Iterator[str]:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # held but not listening: connections are refused
        yield f"127.0.0.1:{held.getsockname()[1]}"


@pytest.mark.parametrize(
    ("words", "schema"),
    [
        (("list",), "list"),
        (("describe", "--all-groups"), "offsets"),
        (("describe", "g", "--members"), "members"),
        (("lag",), "lag"),
        (("explain", "g"), "explain"),
        (("reset-offsets", "g", "--all-topics", "--to-earliest"), "reset-offsets"),
        (("delete", "g"), "delete"),
        (("delete", "g", "--execute", "--yes"), "delete"),
        (("delete-offsets", "g", "--topic", "t"), "delete-offsets"),
        (("remove-members", "g", "--all-members"), "remove-members"),
    ],
)
def test_unreachable_cluster_json_has_envelope_with_failure(
    run_cli: Run, closed_port: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple, schema: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run_cli(*words, "-b", closed_port, "-o", "json")
    answer = json.loads(out)
    assert (code, list(answer), answer["schema"], answer["items"]) == (1, KEYS, f"kgroups/{schema}/v1", [])
    (failure,) = answer["failures"]
    assert (failure["scope"], failure["name"], failure["error"]) == ("cluster", "", None)
    assert "connection refused" in failure["message"] and err == f"kgroups: error: {failure['message']}\n"


@pytest.mark.parametrize("fmt", ["jsonl", "csv", "plain", "table"])
def test_unreachable_cluster_other_formats_report_on_stderr(run_cli: Run, closed_port: str, fmt: str) -> None:
    code, out, err = run_cli("list", "-b", closed_port, "-o", fmt)
    assert (code, out) == (1, "") and "connection refused" in err


def test_usage_error_has_no_envelope(run_cli: Run, closed_port: str) -> None:
    code, out, _ = run_cli("describe", "g", "-b", closed_port, "-o", "json", "--columns", "none")
    assert (code, out) == (2, "")


def test_many_missing_groups_are_one_line(run_cli: Run, serve: Callable) -> None:
    """The broker does not matter for a missing group, so the line is not repeated per broker."""

    def shop(fake: FakeCluster) -> None:
        fake.state.topic("t", [0])
        fake.state.group("good", 1, commits={("t", 0): 1})

    served = serve(fill=shop, brokers=3)
    code, out, err = run_cli("describe", "good", *(f"none-{n}" for n in range(40)), "-b", served.bootstrap)
    assert (code, out.count("good")) == (1, 1)
    assert [line for line in err.splitlines() if "none-" in line] == [
        "kgroups: 40 groups: the group does not exist [GROUP_ID_NOT_FOUND]: none-0, none-1, none-10, … and 37 more"
    ]
