"""``kgroups translate`` and ``kgroups parity``: which of the clusters an error is about, and what is unknown."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.cli.change.apply_plan import apply_plan
from kgroups.errors import ClusterUnreachable
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.record_batches import batch

Run = Callable[..., tuple[int, str, str]]


def shop(fake: FakeCluster) -> None:
    """Groups a and b at offset 2 of t1 and t2, each with five records."""
    for topic in ("t1", "t2"):
        fake.state.topic(topic, [0], end=5, logs={0: [batch(0, [(at, 1000 + at) for at in range(5)])]})
    for group in ("a", "b"):
        fake.state.group(group, commits={("t1", 0): 2, ("t2", 0): 2})


@pytest.fixture
def clusters(serve: Callable[..., Any]) -> tuple[Any, Any]:
    source, target = serve(brokers=1, fill=shop), serve(brokers=1, fill=shop)
    target.state.cluster_id = "copy"
    return source, target


@pytest.fixture
def closed_port() -> Iterator[str]:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # held but not listening: connections are refused
        yield f"127.0.0.1:{held.getsockname()[1]}"


@pytest.mark.parametrize("fmt", ["plain", "json"])
@pytest.mark.parametrize(("command", "sides"), [("translate", ("--from", "--to")), ("parity", ("A", "B"))])
def test_unreachable_cluster_is_named(
    run_cli: Run, clusters: tuple[Any, Any], closed_port: str, command: str, sides: tuple[str, str], fmt: str
) -> None:
    source, target = (each.bootstrap for each in clusters)
    for side, (a, b) in zip(sides, [(closed_port, target), (source, closed_port)], strict=True):
        words = ("--from", a, "--to", b) if command == "translate" else (a, b)
        code, _, err = run_cli(command, "--all-groups", *words, "-o", fmt)
        assert (code, err) == (
            1 if command == "translate" else 3,
            f"kgroups: error: {side}: no bootstrap server responded: {closed_port}: connection refused\n",
        )


def test_same_cluster_and_two_topics_with_one_copy_are_rejected(run_cli: Run, clusters: tuple[Any, Any]) -> None:
    source, target = (each.bootstrap for each in clusters)
    code, out, err = run_cli("translate", "a", "--from", source, "--to", source)
    assert (code, out, err) == (2, "", "kgroups: error: both clusters are the same, fake-cluster\n")
    assert run_cli("parity", source, source) == (3, "", err)
    mapped = ("--topic-map", "t1=all", "--topic-map", "t2=all")
    code, out, err = run_cli("translate", "a", "--from", source, "--to", target, *mapped)
    assert (code, out) == (2, "")
    assert err == "kgroups: error: --topic-map: topics 't1' and 't2' would both be 'all'\n"
    assert run_cli("parity", source, target, *mapped) == (3, "", err)


def test_offsets_that_cannot_be_read_are_unknown(run_cli: Run, clusters: tuple[Any, Any]) -> None:
    source, target = clusters
    target.state.fail("OffsetFetch", "a", ErrorCode.group_authorization_failed)
    code, out, err = run_cli("parity", source.bootstrap, target.bootstrap, "-o", "json")
    verdicts = {(row["group"], row["topic"]): (row["verdict"], row["note"]) for row in json.loads(out)["items"]}
    unread = "unknown", "the committed offset on B could not be read"
    assert code == 3 and "on the target: " in err
    assert verdicts["a", "t1"] == verdicts["a", "t2"] == unread and verdicts["b", "t1"][0] == "same"
    both = ("--from", source.bootstrap, "--to", target.bootstrap)
    code, out, err = run_cli("translate", "a", "b", *both, "-o", "json")
    notes = {row["group"]: row["note"] for row in json.loads(out)["items"]}
    assert code == 1 and "on the target: " in err
    assert notes["a"].endswith("not written: the group's offset there could not be read")
    assert notes["b"].endswith("already there")


def test_follow_ends_when_all_groups_have_members_on_the_target(
    run_cli: Run, clusters: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = clusters
    rounds: list[float] = []

    def join(seconds: float) -> None:
        rounds.append(seconds)
        for name in ("a", "b")[: max(0, len(rounds) - 2)]:
            target.state.group(name, state="Stable", members=(FakeMember("m"),), commits={("t1", 0): 2, ("t2", 0): 2})
        if len(rounds) == 1:
            for name in ("a", "b"):
                source.state.fail("OffsetFetch", name, ErrorCode.group_authorization_failed, 1)

    def apply(*words: Any) -> int:
        if len(rounds) == 2:
            raise ClusterUnreachable("no bootstrap server responded")
        return apply_plan(*words)

    monkeypatch.setattr("kgroups.cli.translate.apply_plan", apply)
    monkeypatch.setattr("kgroups.cli.translate.time.sleep", join)
    both = ("--from", source.bootstrap, "--to", target.bootstrap)
    code, out, err = run_cli("translate", "a", "b", *both, "--follow", "1s", "--execute", "--yes")
    assert (code, rounds) == (1, [1.0] * 4)
    assert (out.count("already there"), out.count("METHOD")) == (4, 1)
    assert err.count("no bootstrap server responded") == 1
    assert err.count("group 'a': the group has active members") == err.count("group 'b': the group has") == 1


def test_missing_snapshot_is_named(run_cli: Run, clusters: tuple[Any, Any]) -> None:
    code, out, err = run_cli("parity", "no/such.json", clusters[1].bootstrap)
    assert (code, out, err) == (3, "", "kgroups: error: A: there is no snapshot no/such.json\n")
