"""Logs that an unclean leader election truncated below a commit, and that have grown beyond it again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kgroups.model.offsets import Commit
from tests.fakes.broker import FakeCluster

Run = Callable[..., tuple[int, str, str]]
REPLACED = "log truncated: the records at offsets 60 to 99 were replaced after the group read them"


def truncated(fake: FakeCluster) -> None:
    """Epoch 2 of t-0 ended at offset 60; the leader of epoch 3 wrote up to 100. t-1 lost nothing."""
    topic = fake.state.topic("t", [0, 1], end=100, epoch=3)
    topic.history = {0: {0: 0, 2: 40, 3: 60}, 1: {0: 0, 2: 40, 3: 100}}
    fake.state.group("lost", 0, commits={("t", 0): Commit(0, 100, 2), ("t", 1): Commit(1, 100, 2)})
    fake.state.group("first", 0, commits={("t", 0): Commit(0, 41, 0)})
    fake.state.group("fine", 1, commits={("t", 0): Commit(0, 60, 2), ("t", 1): Commit(1, 90, 2)})
    fake.state.group("current", 1, commits={("t", 0): Commit(0, 100, 3)})
    fake.state.group("unknown", 1, commits={("t", 0): Commit(0, 100, None)})


@pytest.fixture
def served(serve: Callable) -> Any:
    return serve(fill=truncated)


def test_explain_names_the_records_that_were_replaced(run_cli: Run, served: Any) -> None:
    names = ("lost", "first", "fine", "current", "unknown")
    code, out, err = run_cli("explain", "-b", served.bootstrap, *names, "-o", "json")
    assert code == 0, err
    found = {item["group"]: item["summary"] for item in json.loads(out)["items"]}
    assert {name for name, each in found.items() if each["status"] == "truncated log"} == {"lost", "first"}
    assert found["lost"]["worst"]["verdict"] == "truncated-log"
    assert found["lost"]["next"] == "kgroups reset-offsets lost --topic t:0 --to-offset 60"

    code, out, _ = run_cli("explain", "-b", served.bootstrap, "lost", "first", "fine", "--partition", "t:0")
    assert REPLACED in out and "the records at offset 40 were replaced" in out and out.count("truncated-log") == 2
    code, out, _ = run_cli("explain", "-b", served.bootstrap, "lost", "--partition", "t:0", "-o", "json")
    assert json.loads(out)["items"][0]["facts"]["diverged_offset"] == 60


def test_text_has_the_evidence(run_cli: Run, served: Any) -> None:
    out = run_cli("explain", "-b", served.bootstrap, "lost", "--partition", "t:0")[1]
    assert "the records of the leader epoch of the commit end before offset 60" in out


@pytest.mark.parametrize("rule", ["--max-lag", "--max-partition-lag", "--max-time-lag", "--max-topic-lag"])
def test_check_is_critical_if_the_log_was_truncated_below_a_commit(run_cli: Run, served: Any, rule: str) -> None:
    limit = "t=50" if rule == "--max-topic-lag" else "1000"
    code, out, _ = run_cli("check", "-b", served.bootstrap, "lost", rule, limit)
    assert code == 2
    assert "log truncated: 40 offsets of 1 partition replaced after the group read them: t-0" in out
    assert len(served.fake.asked("OffsetForLeaderEpoch")) == 2  # one for each leader
    assert "log truncated" not in run_cli("check", "-b", served.bootstrap, "fine", rule, limit)[1]


def test_commits_of_the_current_epoch_need_no_request(run_cli: Run, served: Any) -> None:
    assert (
        run_cli("check", "-b", served.bootstrap, "current", "unknown", "--max-lag", "50", "--allow-uncommitted")[0] == 0
    )
    assert run_cli("explain", "-b", served.bootstrap, "current")[0] == 0
    assert run_cli("lag", "-b", served.bootstrap, "lost")[0] == 0
    assert run_cli("describe", "-b", served.bootstrap, "lost")[0] == 0
    assert not served.fake.asked("OffsetForLeaderEpoch")
