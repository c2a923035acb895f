"""kafka-consumer-groups with commits that do not describe a position: the rows match the Java tool."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from kgroups.dropins.consumer_groups import TOOL
from tests.unit.cli.test_odd_commits import odd
from tests.unit.conftest import Ran

Run = Callable[..., Ran]


@pytest.fixture
def ask(run_tool: Run, serve: Callable) -> Run:
    return functools.partial(run_tool, TOOL, "--bootstrap-server", serve(fill=odd).bootstrap)


def test_describe_recreated_topic_has_kafka_lag(ask: Run) -> None:
    _, out, _ = ask("--describe", "--group", "old")
    assert [line.split()[:6] for line in out.splitlines() if line.startswith("old")] == [
        ["old", "again", "0", "100", "100", "0"],
        ["old", "again", "1", "60", "100", "40"],
    ]


def test_describe_committed_offset_minus_1_matches_kafka(ask: Run) -> None:
    _, out, _ = ask("--describe", "--group", "minus")
    assert [line.split() for line in out.splitlines() if line.startswith("minus")] == [
        ["minus", "t", "0", "-", "100", "-", "-", "-", "-"],
        ["minus", "t", "1", "100", "100", "0", "-", "-", "-"],
    ]
