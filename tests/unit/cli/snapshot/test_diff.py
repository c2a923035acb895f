"""Compare states of groups: clusters and files, over fake brokers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.offsets import Commit
from tests.fakes.broker import FakeCluster, framed, silence
from tests.fakes.cluster_state import FakeMember
from tests.fakes.record_batches import batch
from tests.unit.cli.snapshot.test_save_and_show import FILE, shop

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def served(serve: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return serve(fill=shop)


@pytest.fixture
def diff(run_cli: Run, served: Any) -> Callable[..., Any]:
    """Save a snapshot of all groups, then compare; returns the exit code, the rows, and stderr."""
    assert run_cli("snapshot", "save", FILE, "--all-groups", "-b", served.bootstrap)[0] == 0

    def compared(*words: str) -> tuple[int, list[tuple[Any, ...]], str]:
        words = ("snapshot", "diff", FILE, "-b", served.bootstrap, *words) if words[:1] != ("diff",) else words
        code, out, err = run_cli(*words, "-o", "json")
        return code, [tuple(row.values()) for row in json.loads(out)["items"]], err

    return compared


def test_equal_states_exit_0(diff: Any) -> None:
    code, rows, err = diff()
    assert (code, rows) == (0, []) and "are equal: 3 groups" in err


@pytest.mark.parametrize(
    "words", [("--group", "nosuch"), ("--regex", "nosuch.*"), ("--group", "a", "--group", "nosuch")]
)
def test_selection_without_a_group_fails(diff: Any, words: tuple[str, ...]) -> None:
    """A typing error in a job must not pass as equality."""
    code, rows, err = diff(*words)
    assert (code, rows) == (1, []) and "are equal" not in err and "nosuch" in err


def test_every_part_is_compared(diff: Any, served: Any) -> None:
    groups = served.state.groups
    groups["a"].commits = {("t", 0): 50, ("t", 1): Commit(1, 52, 4, "other")}
    groups["b"].state, groups["b"].members = "Empty", ()
    groups["b"].commits[("t", 1)] = 1
    served.state.settings["c"] = {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "5000"}
    served.state.topics["other"].topic_id = 9
    served.state.group("new", 0)
    code, rows, _ = diff()
    place = (None, None)
    assert code == 1 and [row for row in rows if row[3] != "protocol"] == [
        (None, "other", None, "topic-id", "AAAAAAAAAAAAAAAAAAAACA", "AAAAAAAAAAAAAAAAAAAACQ", "differs"),
        ("a", "t", 1, "offset", "51", "52", "differs"),
        ("a", "t", 1, "leader-epoch", "3", "4", "differs"),
        ("a", "t", 1, "metadata", "noted", "other", "differs"),
        ("a", "t", 1, "lag", "49", "48", "differs"),
        ("b", *place, "state", "Stable", "Empty", "differs"),
        ("b", *place, "member", "static", None, "only in A"),
        ("b", "t", 1, "offset", None, "1", "only in B"),
        ("c", *place, "config consumer.heartbeat.interval.ms", None, "5000", "only in B"),
        ("c", *place, "config consumer.session.timeout.ms", "50000", "45000", "differs"),
        ("new", *place, "group", None, "Empty", "only in B"),
    ]
    assert {row[3] for row in diff("--only", "lag")[1]} == {"group", "lag"}
    assert {row[0] for row in diff("--group", "c")[1]} == {"c"}
    assert {row[0] for row in diff("--regex", "a|new", "--only", "offsets")[1]} == {"a", "new"}


def test_members_that_moved_partitions_differ(diff: Any, served: Any) -> None:
    served.state.groups["b"].members = (FakeMember("m-2", {"t": (1,)}, instance_id="static", host="/10.0.0.1"),)
    assert diff("--only", "members")[1] == [
        ("b", None, None, "host of static", "/127.0.0.1", "/10.0.0.1", "differs"),
        ("b", None, None, "assignment of static", "t:0,1", "t:1", "differs"),
    ]


def test_deleted_group_is_only_in_a(diff: Any, served: Any) -> None:
    del served.state.groups["a"]
    code, rows, err = diff()
    assert (code, rows) == (1, [("a", None, None, "group", "Empty", None, "only in A")])
    assert "does not exist" not in err


def test_unknown_is_neither_equal_nor_different(diff: Any, served: Any) -> None:
    for api in ("DescribeGroups", "OffsetFetch"):
        served.state.fail(api, "a", ErrorCode.group_authorization_failed)
    served.state.fail("DescribeConfigs", "c", ErrorCode.group_authorization_failed)
    served.state.fail("ListOffsets", "other-0", ErrorCode.topic_authorization_failed)
    code, rows, err = diff()
    assert code == 1 and rows == [
        ("a", None, None, "group", "Empty", None, "unknown"),
        ("b", "other", 0, "lag", "41", None, "unknown"),
        ("c", None, None, "configs", "1", None, "unknown"),
    ]
    assert f"group 'a': {served.bootstrap}: not authorized" in err


def test_partial_file_is_unknown(run_cli: Run, served: Any, diff: Any) -> None:
    for api in ("DescribeGroups", "OffsetFetch"):
        served.state.fail(api, "a", ErrorCode.group_authorization_failed)
    assert run_cli("snapshot", "save", "partial", "--all-groups", "-b", served.bootstrap)[0] == 1
    code, rows, err = diff("diff", "partial", f"./{FILE}")
    assert (code, rows) == (1, [("a", None, None, "group", None, "Empty", "unknown")])
    assert "group 'a': partial: not authorized" in err


def test_groups_outside_a_selection_are_unknown(run_cli: Run, served: Any, diff: Any) -> None:
    for name, words in (("b.snapshot", ("b",)), ("ab.snapshot", ("[ab]",)), ("empty.snapshot", ("--state", "empty"))):
        assert run_cli("snapshot", "save", name, *words, "-b", served.bootstrap)[0] == 0
        assert run_cli("snapshot", "diff", name, "-b", served.bootstrap)[0] == 0
    assert {row[-1] for row in diff("diff", FILE, "b.snapshot")[1]} == {"unknown"}
    served.state.group("a", 0)
    del served.state.groups["b"]
    assert run_cli("snapshot", "save", "ab2.snapshot", "[ab]", "-b", served.bootstrap)[0] == 0
    rows = diff("diff", "ab.snapshot", "ab2.snapshot", "--only", "state")[1]
    assert ("b", None, None, "group", "Stable", None, "only in A") in rows


def test_records_are_compared_if_both_have_them(run_cli: Run, served: Any) -> None:
    log = [batch(10, [(at, 1_000 + at) for at in range(90)])]
    served.state.topics["t"].logs = {0: log, 1: log}
    save = ("snapshot", "save", "-b", served.bootstrap, "a", "--with-records")
    for name in ("one", "two"):
        assert run_cli(*save[:2], name, *save[2:])[0] == 0
    assert run_cli("diff", "./one", "two")[0] == 0
    assert run_cli("snapshot", "diff", "one", "-b", served.bootstrap)[0] == 0
    served.state.topics["t"].logs[1] = [batch(10, [(at, 2_000 + at) for at in range(90)])]
    code, out, _ = run_cli(
        "snapshot", "diff", "one", "-b", served.bootstrap, "--columns", "partition,what,result", "-o", "csv"
    )
    assert code == 1 and out.splitlines()[1:] == ["1,record timestamp,differs"]  # fakes have no checksums


@pytest.fixture
def profiles(serve: Callable[..., Any], served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two clusters, as profiles."""

    def second(fake: FakeCluster) -> None:
        shop(fake)
        fake.state.cluster_id = "second"

    other = serve(fill=second)
    config = tmp_path / "config.toml"
    config.write_text(
        f'[profiles.eu]\nbootstrap = "{served.bootstrap}"\n[profiles.us]\nbootstrap = "{other.bootstrap}"\n'
        '[profiles.down]\nbootstrap = "127.0.0.1:1"\n'
    )
    monkeypatch.setenv("KGROUPS_CONFIG", str(config))
    monkeypatch.setenv("KGROUPS_BOOTSTRAP_SERVER", "elsewhere.invalid:9092")
    monkeypatch.setenv("KGROUPS_COMMAND_CONFIG", "of-another-cluster.properties")
    return other


def test_two_clusters_are_compared(diff: Any, profiles: Any) -> None:
    code, rows, err = diff("diff", "eu", "us")
    assert (code, rows) == (0, []) and "eu is of fake-cluster, us of second" in err
    profiles.state.groups["a"].commits[("t", 0)] = 49
    del profiles.state.groups["b"]
    code, rows, _ = diff("diff", "eu", "us", "[ab]", "--only", "offsets")
    assert code == 1 and rows == [
        ("a", "t", 0, "offset", "50", "49", "differs"),
        ("b", None, None, "group", "Stable", None, "only in A"),
    ]
    assert [row[0] for row in diff("diff", "us", FILE, "a", "--only", "offsets")[1]] == ["a"]


def test_unreachable_cluster_is_an_error(run_cli: Run, diff: Any, profiles: Any) -> None:
    code, out, err = run_cli("diff", "eu", "down", "--timeout", "5s", "--no-headers")
    assert (code, out) == (1, "") and err.startswith(
        "kgroups: cluster down: no bootstrap server responded: 127.0.0.1:1"
    )
    code, _, err = run_cli("diff", FILE, "down", "--timeout", "5s")
    assert code == 1 and err.startswith("kgroups: error: no bootstrap server responded: 127.0.0.1:1")


def test_two_clusters_are_queried_at_the_same_time(diff: Any, served: Any, profiles: Any) -> None:
    """No broker responds before all of both clusters were asked."""
    brokers = [broker for each in (served, profiles) for broker in each.fake.brokers.values()]
    barrier = asyncio.Barrier(len(brokers))

    async def respond(writer: asyncio.StreamWriter, answer: bytes) -> None:
        await barrier.wait()
        writer.write(framed(answer))

    for broker in brokers:
        broker.fault("ListGroups", respond, times=1)
    code, rows, err = diff("diff", "eu", "us", "--timeout", "20s")
    assert (code, rows) == (0, []), err


def test_each_cluster_that_fails_is_named(run_cli: Run, served: Any, profiles: Any) -> None:
    for each in (served, profiles):
        for broker in each.fake.brokers.values():
            broker.fault("*", silence)
    code, out, err = run_cli("diff", "eu", "us", "--timeout", "1s", "-o", "json")
    failures = json.loads(out)["failures"]
    assert (code, [(each["scope"], each["name"]) for each in failures]) == (1, [("cluster", "eu"), ("cluster", "us")])
    assert [line.split(": ")[1] for line in err.splitlines()] == ["cluster eu", "cluster us"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("nosuch", "us"), "kgroups: hint: to see groups next to each other: kgroups describe nosuch us"),
        (("./nosuch", "us"), "nosuch: No such file"),
        (("eu", "us", "--only", "all"), "--only"),
        (("eu",), "'eu' is a profile; with one argument, a file is compared"),
        (("eu", "us", "--profile", "us"), "--profile selects the cluster to compare with 'eu', and 'us' is B; omit"),
        (("eu", "a*", "-b", "x:1"), "hint: to select groups, use --group or --regex"),
    ],
)
def test_invalid_sides_are_named(run_cli: Run, profiles: Any, words: tuple[str, ...], named: str) -> None:
    code, out, err = run_cli("diff", *words)
    assert (code, out) == (2, "") and named in err and err.count("\n") == 1 + ("hint:" in err)


def test_file_is_compared_with_the_cluster_that_options_select(
    diff: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGROUPS_BOOTSTRAP_SERVER", "elsewhere.invalid:9092")
    assert diff("diff", FILE, "-b", served.bootstrap)[:2] == (0, [])
    code, rows, err = diff("diff", FILE, "--group", "a", "-b", served.bootstrap, "--only", "offsets")
    assert (code, rows) == (0, []) and f"A ({FILE}) and B ({served.bootstrap}) are equal: 1 group" in err


def test_profile_is_compared_with_the_cluster_that_options_select(
    diff: Any, profiles: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KGROUPS_COMMAND_CONFIG")
    code, rows, err = diff("diff", "eu", "--profile", "us", "--only", "state")
    assert (code, rows) == (0, []) and "eu is of fake-cluster" in err and " of second" in err


def test_name_of_a_profile_and_a_file_is_ambiguous(run_cli: Run, profiles: Any) -> None:
    Path("eu").touch()
    code, _, err = run_cli("diff", "eu", "us")
    assert code == 2 and "'eu' is a profile and a file; for the file, use ./eu" in err


def test_recreated_topic_without_offsets_has_another_id(diff: Any, served: Any) -> None:
    """Brokers delete the offsets of a topic with it."""
    served.state.topics["t"].topic_id = 70
    for group in served.state.groups.values():
        group.commits = {pair: commit for pair, commit in group.commits.items() if pair[0] != "t"}
    code, rows, _ = diff("--only", "topics")
    assert code == 1 and [row[1:4] + row[-1:] for row in rows if row[3] == "topic-id"] == [
        ("t", None, "topic-id", "differs")
    ]
