"""Commits that do not describe a position: of a deleted topic, and of offset -1; in every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kgroups import Cluster
from kgroups.model.lag import EPOCH_AHEAD
from kgroups.model.offsets import Commit
from kgroups.model.views.offsets import UNSET
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.unit.exporter.test_command import _serve, lag_samples, looks_at, samples, scrape

Run = Callable[..., tuple[int, str, str]]


def odd(fake: FakeCluster) -> None:
    """again: created again, at epoch 2. old has committed at epoch 7; new at 2, and at an epoch that is not known."""
    fake.state.topic("again", [0, 1], end=100, epoch=2)
    fake.state.topic("t", [0, 1], end=100)
    fake.state.group("old", 0, commits={("again", 0): Commit(0, 100, 7), ("again", 1): Commit(1, 60, 2)})
    fake.state.group("new", 0, commits={("again", 0): Commit(0, 90, 2), ("again", 1): Commit(1, 90, None)})
    fake.state.group("minus", 1, commits={("t", 0): -1, ("t", 1): 100})
    held = (FakeMember("m-1", {"t": (0, 1)}),)
    fake.state.group("attended", 1, state="Stable", members=held, commits={("t", 0): -1, ("t", 1): 100})


@pytest.fixture
def served(serve: Callable) -> Any:
    return serve(fill=odd)


def items(run_cli: Run, served: Any, *words: str) -> dict[tuple[str, int], dict[str, Any]]:
    code, out, _ = run_cli(words[0], "-b", served.bootstrap, *words[1:], "-o", "json")
    assert code == 0
    return {(row["group"], row.get("partition", 0)): row for row in json.loads(out)["items"]}


def test_offsets_of_recreated_topic_are_unknown(run_cli: Run, served: Any) -> None:
    rows = items(run_cli, served, "describe", "old", "new")
    assert {key: (row["lag"], row["note"]) for key, row in rows.items()} == {
        ("old", 0): (None, EPOCH_AHEAD),
        ("old", 1): (40, None),
        ("new", 0): (10, None),
        ("new", 1): (10, None),
    }
    row = items(run_cli, served, "lag", "old", "new")["old", 0]
    assert (row["total_lag"], row["known_lag"], row["unknown"]) == (None, 40, 1)
    assert row["note"] == f"lag at least 40; lag unknown of 1 partition: {EPOCH_AHEAD}"
    assert items(run_cli, served, "lag", "old", "--by", "partition")["old", 0]["note"] == EPOCH_AHEAD

    code, out, _ = run_cli("check", "-b", served.bootstrap, "old", "--max-lag", "50")
    assert code == 3 and f"lag 40 on 1 partition, unknown on 1: {EPOCH_AHEAD}" in out
    for words in (("--max-partition-lag", "50"), ("--trend", "--window", "10ms", "--samples", "2")):
        assert run_cli("check", "-b", served.bootstrap, "old", *words)[0] == 3
    assert run_cli("check", "-b", served.bootstrap, "new", "--max-lag", "50")[0] == 0

    code, out, _ = run_cli("explain", "-b", served.bootstrap, "old", "new")
    assert (code, out.count(EPOCH_AHEAD)) == (0, 1)
    assert f"PROBLEM: committed offsets of 1 partition are invalid: again-0: {EPOCH_AHEAD}" in out

    code, out, _ = run_cli("watch", "-b", served.bootstrap, "old", "--count", "1")
    (item,) = json.loads(out)["items"]
    assert (item["total_lag"], item["known_lag"], item["unknown_partitions"]) == (None, 40, 1)

    port = _serve(looks_at(served.bootstrap))
    answer = samples(text_string_to_metric_families(scrape(port)))
    assert "total_lag" not in lag_samples(answer, "old") and lag_samples(answer, "old")["unknown_partitions"] == 1
    assert lag_samples(answer, "new")["total_lag"] == 20

    (found,) = Cluster(served.bootstrap).lag("old").items
    assert (found.total_lag, found.known_lag) == (None, 40)


def test_group_with_empty_name_is_listed_and_selectable_by_regex(run_cli: Run, serve: Callable) -> None:
    """Brokers before Kafka 2.5 allow it. A group named - looks different, and JSON is exact."""

    def nameless(fake: FakeCluster) -> None:
        fake.state.topic("t", [0], end=100)
        for name in ("", "-", "a"):
            fake.state.group(name, 0, commits={("t", 0): 90})

    where = ("-b", serve(fill=nameless).bootstrap)
    code, out, _ = run_cli("list", *where)
    assert (code, out.splitlines()) == (0, ["''", r"\x2d", "a"])
    assert [row["group"] for row in json.loads(run_cli("list", *where, "-o", "json")[1])["items"]] == ["", "-", "a"]
    for words in (("describe", "--all-groups"), ("describe", "--all-groups", "--state"), ("lag",)):
        code, out, _ = run_cli(words[0], *where, *words[1:])
        assert (code, [line.split()[0] for line in out.splitlines()[1:]]) == (0, ["''", r"\x2d", "a"])
    code, out, _ = run_cli("describe", *where, "--regex", "", "-o", "grid")
    assert code == 0 and "| ''" in out and "| a" not in out
    code, _, err = run_cli("describe", *where, "")
    assert code == 2 and "--regex ''" in err


def test_committed_offset_of_minus_1_is_unknown(run_cli: Run, served: Any) -> None:
    rows = items(run_cli, served, "describe", "minus", "attended")
    shown = {key: (row["current_offset"], row["log_end_offset"], row["lag"], row["note"]) for key, row in rows.items()}
    assert shown == {
        ("minus", 0): (None, 100, None, UNSET),
        ("minus", 1): (100, 100, 0, None),
        ("attended", 0): (None, 100, None, UNSET),
        ("attended", 1): (100, 100, 0, None),
    }
    lags = items(run_cli, served, "lag", "minus", "attended")
    assert [(lags[name, 0]["partitions"], lags[name, 0]["uncommitted"]) for name in ("minus", "attended")] == [
        (2, 1)
    ] * 2
