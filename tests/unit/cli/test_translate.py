"""``kgroups translate`` and ``kgroups parity``: which of the clusters an error is about, and what is unknown."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from struct import pack
from typing import Any
from xml.etree import ElementTree

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.translation.source_again import check_source
from kgroups.cli.change.apply_plan import apply_plan
from kgroups.errors import ClusterUnreachable
from kgroups.model.groups import GroupType
from kgroups.model.offsets import Commit
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
    assert (code, rounds) == (0, [1.0] * 4), err
    assert (out.count("already there"), out.count("METHOD")) == (4, 1)
    assert err.count("no bootstrap server responded") == 1
    left_alone = "has members on the target: it is left alone from now on"
    assert err.count(f"group 'a' {left_alone}") == err.count(f"group 'b' {left_alone}") == 1


def offsets_of(cluster: Any, group: str) -> set[int]:
    commits = cluster.state.groups[group].commits.values()
    return {each if isinstance(each, int) else each.offset for each in commits}


@pytest.mark.parametrize("metadata", ["", "of an application"])
def test_follow_leaves_a_group_alone_that_went_on_between_two_rounds(
    run_cli: Run, clusters: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, metadata: str
) -> None:
    source, target = clusters
    monkeypatch.chdir(tmp_path)
    rounds: list[float] = []

    def commit(cluster: Any, **offsets: int) -> None:
        for name, offset in offsets.items():
            made = {(topic, 0): Commit(0, offset, None, metadata) for topic in ("t1", "t2")}
            cluster.state.group(name, commits=made)

    def go_on(seconds: float) -> None:
        rounds.append(seconds)
        if len(rounds) == 1:
            commit(source, a=3, b=3)  # both are written again
        elif len(rounds) == 2:
            commit(target, a=1)
            commit(source, a=4, b=4)
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr("kgroups.cli.translate.time.sleep", go_on)
    commit(source, a=2, b=2)
    target.state.groups.clear()
    both = ("--from", source.bootstrap, "--to", target.bootstrap)
    words = "--follow", "1s", "--execute", "--yes", "--overwrite", "--commit-window", "10ms"
    _, out, err = run_cli("translate", "a", "b", *both, *words)
    assert len(rounds) == 3, err
    assert err.count("group 'a': translate did not write 2 offsets of the target") == 1
    assert out.count("not overwritten: the group is at 1 there") == 2
    assert offsets_of(target, "a") == {1} and offsets_of(target, "b") == {4}


def test_follow_prints_no_documents_of_json(run_cli: Run, clusters: tuple[Any, Any]) -> None:
    both = ("--from", clusters[0].bootstrap, "--to", clusters[1].bootstrap)
    code, out, err = run_cli("translate", "a", *both, "--follow", "1s", "--execute", "--yes", "-o", "json")
    assert (code, out) == (2, "") and "use -o jsonl" in err


@pytest.mark.parametrize("change", ["commit", "rewind", "topic", "member", "lost"])
def test_source_is_checked_again_before_the_write(
    run_cli: Run, clusters: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: str
) -> None:
    source, target = clusters
    monkeypatch.chdir(tmp_path)
    target.state.groups.clear()

    async def check(*words: Any) -> Any:
        if change == "topic":
            entry = source.state.topics["t2"]
            entry.topic_id += 100
        elif change == "lost":
            source.state.fail("OffsetFetch", "a", ErrorCode.group_authorization_failed)
        elif change == "member":
            source.state.group("a", state="Stable", members=(FakeMember("m"),), commits={("t1", 0): 2, ("t2", 0): 2})
        else:
            source.state.group("a", commits={("t1", 0): 2, ("t2", 0): 3 if change == "commit" else 1})
        return await check_source(*words)

    monkeypatch.setattr("kgroups.cli.translate.check_source", check)
    both = ("--from", source.bootstrap, "--to", target.bootstrap)
    code, out, err = run_cli("translate", "a", "b", *both, "--execute", "--yes", "-o", "json")
    rows = [(row["group"], row["topic"], row["result"]) for row in json.loads(out)["items"]]
    expected = "failed" if change == "topic" else "applied"
    assert rows == [("a", "t1", "failed"), ("a", "t2", "failed"), ("b", "t1", expected), ("b", "t2", expected)]
    assert code == 1 and ": on the source: " in err and "nothing was written" in err
    assert "a" not in target.state.groups and ("b" in target.state.groups) == (expected == "applied")


@pytest.mark.parametrize("side", ["source", "target"])
def test_when_empty_waits_for_members_on_both_clusters(
    run_cli: Run, clusters: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, side: str
) -> None:
    source, target = clusters
    monkeypatch.chdir(tmp_path)
    target.state.groups.clear()
    cluster = source if side == "source" else target
    commits = {("t1", 0): 1} if side == "source" else {}
    cluster.state.group("a", state="Stable", members=(FakeMember("m"),), commits=commits)

    async def leave(*_: Any) -> None:
        source.state.group("a", commits={("t1", 0): 4})
        target.state.groups.clear()

    both = ("--from", source.bootstrap, "--to", target.bootstrap)
    words = "translate", "a", *both, "--execute", "--yes"
    code, _, err = run_cli(*words, "--when-empty", "10ms")
    assert code == 1 and f"the members on the {side} did not leave" in err, err
    monkeypatch.setattr("kgroups.admin.wait_until_empty.pause", leave)
    code, _, err = run_cli(*words, "--when-empty", "60s")
    assert f"until the members on the {side} have left: a" in err
    if side == "source":
        assert code == 0 and offsets_of(target, "a") == {4}, err
    else:  # the source has changed while it waited
        assert code == 1 and "group 'a': on the source: " in err


def test_missing_snapshot_is_named(run_cli: Run, clusters: tuple[Any, Any]) -> None:
    code, out, err = run_cli("parity", "no/such.json", clusters[1].bootstrap)
    assert (code, out, err) == (3, "", "kgroups: error: A: there is no snapshot no/such.json\n")


def test_share_and_streams_groups_are_named_as_not_supported(run_cli: Run, clusters: tuple[Any, Any]) -> None:
    source, target = clusters
    source.state.group("s", type=GroupType.SHARE, protocol_type="share", commits={("t1", 0): 2})
    source.state.group("k", type=GroupType.STREAMS, protocol_type="streams", commits={("t1", 0): 2})
    both = ("--from", source.bootstrap, "--to", target.bootstrap)
    code, out, err = run_cli("translate", "a", "s", "k", *both, "-o", "json")
    assert code == 1 and {row["group"] for row in json.loads(out)["items"]} == {"a"}
    for name, kind in (("s", "share"), ("k", "streams")):
        assert f"group '{name}': {kind} groups: its state is more than offsets: it cannot be translated" in err.lower()


def test_leader_epoch_is_that_of_the_copy(run_cli: Run, clusters: tuple[Any, Any], tmp_path: Path) -> None:
    source, target = clusters
    target.state.groups.clear()
    (log,) = target.state.topics["t1"].logs[0]
    target.state.topics["t1"].logs = {0: [log._replace(data=log.data[:12] + pack(">i", 4) + log.data[16:])]}
    source.state.groups["a"].commits = {("t1", 0): Commit(0, 2, 9, "metadata")}
    both = ("--from", source.bootstrap, "--to", target.bootstrap)
    words = ("--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))
    code, _, err = run_cli("translate", "a", *both, *words)
    assert code == 0, err
    assert target.state.groups["a"].commits == {("t1", 0): Commit(0, 2, 4, "metadata")}


def translated(run_cli: Run, clusters: tuple[Any, Any], *words: str) -> dict[str, Any]:
    """Translate group a; return the row of t1."""
    both = ("--from", clusters[0].bootstrap, "--to", clusters[1].bootstrap)
    _, out, _ = run_cli("translate", "a", *both, "-o", "json", *words)
    return next(row for row in json.loads(out)["items"] if row["topic"] == "t1")


@pytest.mark.parametrize("side", [0, 1], ids=["expanded before", "expanded after"])
def test_records_in_partitions_of_one_side_make_offsets_impossible(
    run_cli: Run, clusters: tuple[Any, Any], side: int
) -> None:
    clusters[side].state.topics["t1"].leaders = [0, 0]
    row = translated(run_cli, clusters)
    assert (row["method"], row["new_offset"]) == ("impossible", None)
    assert row["note"].startswith("other partitions in the copy: the source has ")


def test_weakest_accepted_method_is_that_of_the_user(run_cli: Run, clusters: tuple[Any, Any]) -> None:
    target = clusters[1].state.topics["t1"]
    assert translated(run_cli, clusters, "--allow", "identical")["method"] == "identical"
    target.logs, target.times = {0: [batch(0, [(at, 1000 + at) for at in range(5)], value=b"other")]}, {3: 1002}
    row = translated(run_cli, clusters, "--allow", "end")
    assert (row["method"], row["new_offset"]) == ("impossible", None)
    row = translated(run_cli, clusters, "--allow", "time")
    assert (row["method"], row["new_offset"], row["read_again"]) == ("time", 3, None)


def test_note_counts_records_that_were_copied_again(run_cli: Run, clusters: tuple[Any, Any]) -> None:
    """The group has read everything; the copier wrote the last two records again."""
    source, target = clusters
    copies = target.state.topics["t1"]
    copies.logs, copies.end = {0: [*copies.logs[0], batch(5, [(5, 1003), (6, 1004)])]}, 7
    source.state.groups["a"].commits["t1", 0] = target.state.groups["a"].commits["t1", 0] = 5
    row = translated(run_cli, clusters)
    assert (row["method"], row["new_offset"], row["read_again"]) == ("end", 5, None)
    assert "; 2 read ones were copied again after it" in row["note"]
    code, out, _ = run_cli("parity", source.bootstrap, target.bootstrap, "a", "-o", "json")
    same = next(item for item in json.loads(out)["items"] if item["topic"] == "t1")
    assert (code, same["verdict"], same["note"] + "; already there") == (0, "same", row["note"])


def test_parity_reports_records_and_writes_junit(run_cli: Run, clusters: tuple[Any, Any], tmp_path: Path) -> None:
    source, target = clusters
    for name, offset in (("a", 1), ("b", 4)):
        target.state.groups[name].commits["t1", 0] = offset
    words = (source.bootstrap, target.bootstrap, "-o", "json", "--junit", str(tmp_path / "parity.xml"))
    code, out, _ = run_cli("parity", *words)
    found = {(row["group"], row["topic"]): (row["verdict"], row["records"]) for row in json.loads(out)["items"]}
    same = {(name, "t2"): ("same", 0) for name in ("a", "b")}
    assert (code, found) == (2, {("a", "t1"): ("behind", 1), ("b", "t1"): ("ahead", 2)} | same)
    failed = [each.get("name") for each in ElementTree.parse(tmp_path / "parity.xml").iter("testcase") if len(each)]
    assert len(failed) == 2


def test_parity_with_a_snapshot_compares_the_saved_records(
    run_cli: Run, clusters: tuple[Any, Any], tmp_path: Path
) -> None:
    source, target = clusters
    file = str(tmp_path / "east.snapshot")
    assert run_cli("snapshot", "save", file, "--all-groups", "--with-records", "-b", source.bootstrap)[0] == 0

    def verdicts() -> tuple[int, dict[tuple[str, str], tuple[str, str]]]:
        code, out, _ = run_cli("parity", file, target.bootstrap, "-o", "json")
        rows = json.loads(out)["items"]
        return code, {(row["group"], row["topic"]): (row["verdict"], row["note"]) for row in rows}

    same = ("same", "the record at 2 has the same time and checksum")
    assert verdicts() == (0, {(name, topic): same for name in ("a", "b") for topic in ("t1", "t2")})
    code, out, err = run_cli("parity", file, target.bootstrap, "a", "none*")
    assert (code, out, err) == (3, "", f"kgroups: error: {file}: no group matches 'none*'\n")
    target.state.groups["a"].commits["t1", 0] = 3
    del target.state.groups["b"].commits["t1", 0]
    target.state.topics["t2"].logs = {0: [batch(0, [(at, 2000 + at) for at in range(5)])]}
    code, found = verdicts()
    assert code == 3 and {verdict for verdict, _ in found.values()} == {"unknown"}
    assert found["a", "t1"][1] == "other offsets than in the snapshot: compare with its cluster instead"
    assert found["b", "t1"][1] == "no committed offset on B: auto.offset.reset decides"
    assert found["a", "t2"][1] == "the record at 2 has another time than the saved one"
