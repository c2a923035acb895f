"""Several clusters in one command, over fake brokers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgroups.admin import fleet
from tests.fakes.broker import FakeCluster, silence
from tests.fakes.cluster_state import FakeMember

Run = Callable[..., tuple[int, str, str]]
Serve = Callable[..., Any]


def filled(cluster_id: str, *groups: str, lag: int = 1) -> Callable[[FakeCluster], None]:
    def fill(fake: FakeCluster) -> None:
        fake.state.cluster_id = cluster_id
        fake.state.topic("orders", [0], end=10)
        for name in groups:
            fake.state.group(name, 0, commits={("orders", 0): 10 - lag})

    return fill


def silent(fake: FakeCluster) -> None:
    for broker in fake.brokers.values():
        broker.fault("*", silence)


@pytest.fixture
def two(serve: Serve, profiles: Callable[..., None]) -> None:
    one, other = serve(fill=filled("A", "both", "here")), serve(fill=filled("B", "both", "there", lag=5))
    profiles(a=one.bootstrap, b=other.bootstrap)


def test_rows_of_all_clusters_are_in_one_table(two: None, run_cli: Run) -> None:
    code, out, err = run_cli("list", "--all-profiles", "--no-headers")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [["a", "both"], ["a", "here"], ["b", "both"], ["b", "there"]]


def test_json_has_the_cluster_of_each_row_and_the_ids(two: None, run_cli: Run) -> None:
    code, out, _ = run_cli("lag", "--profile", "a", "--profile", "b", "-o", "json")
    found = json.loads(out)
    assert (code, found["cluster_id"], found["clusters"]) == (0, None, {"a": "A", "b": "B"})
    assert [(each["cluster"], each["group"], each["total_lag"]) for each in found["items"]] == [
        ("a", "both", 1),
        ("a", "here", 1),
        ("b", "both", 5),
        ("b", "there", 5),
    ]


def test_set_or_tag_is_refused_by_a_command_for_one_cluster(
    serve: Serve, profiles: Callable[..., None], run_cli: Run
) -> None:
    profiles('[sets]\nall = ["a"]\n', a="127.0.0.1:1")
    for name in ("all", "@prod"):
        code, _, err = run_cli("config", "check", "--profile", name)
        assert (code, f"{name!r} selects several clusters, and this command works on one" in err) == (2, True)


def test_profile_is_left_out(two: None, run_cli: Run) -> None:
    found = json.loads(run_cli("list", "--profile", "*", "--profile", "!a", "-o", "json")[1])
    assert found["clusters"] == {"b": "B"}
    assert json.loads(run_cli("list", "--all-profiles", "--profile", "!a", "-o", "json")[1])["clusters"] == {"b": "B"}
    code, _, err = run_cli("list", "--profile", "*", "--profile", "!*")
    assert (code, "--profile selects no profile" in err) == (2, True)


def test_top_is_of_all_clusters_together(two: None, run_cli: Run) -> None:
    _, out, _ = run_cli("lag", "--all-profiles", "--top", "3", "--columns", "cluster,group,total_lag", "-o", "csv")
    assert out.split()[1:] == ["b,both,5", "b,there,5", "a,both,1"]


def test_list_by_cluster_counts_groups(serve: Serve, profiles: Callable[..., None], run_cli: Run) -> None:
    def fill(fake: FakeCluster) -> None:
        filled("A", "empty", "other")(fake)
        fake.state.group("stable", 0, state="Stable", members=(FakeMember("m", {"orders": (0,)}),))
        fake.state.group("moving", 0, state="PreparingRebalance")

    one, old = serve(fill=fill), serve(fill=filled("O", "g"), versions="2.5.1")
    profiles(a=one.bootstrap, old=old.bootstrap)
    columns = "cluster,cluster_id,groups,stable,empty,rebalancing,other_state,unknown_state,classic,unknown_type"
    code, out, _ = run_cli("list", "--by", "cluster", "--all-profiles", "-o", "csv", "--columns", columns)
    assert (code, out.split()[1:]) == (0, ["a,A,4,1,2,1,0,0,4,0", "old,O,1,0,1,0,0,0,,1"])
    _, out, _ = run_cli("list", "--by", "cluster", "-b", one.bootstrap, "-o", "plain")
    assert [line.split() for line in out.splitlines()] == [
        ["CLUSTER-ID", "#GROUPS", "STABLE", "EMPTY", "REBALANCING"],
        ["A", "4", "1", "2", "1"],
    ]
    _, out, _ = run_cli("list", "--by", "cluster", "-b", one.bootstrap, "--state", "empty", "--columns", "groups,empty")
    assert out.split() == ["#GROUPS", "EMPTY", "2", "2"]


def test_list_by_cluster_that_may_be_partial_has_no_count(serve: Serve, run_cli: Run) -> None:
    served = serve(fill=filled("A", "g"))
    served.fake.brokers[1].fault("ListGroups", silence)
    words = ("--broker-timeout", "500ms", "--columns", "groups,listed", "--no-headers")
    code, out, _ = run_cli("list", "--by", "cluster", "-b", served.bootstrap, *words)
    assert (code, out.split()) == (1, ["-", "1"])


@pytest.mark.parametrize("topic", [(), ("--topic", "orders")], ids=["all", "topic"])
def test_lag_by_cluster_that_was_read_in_part_has_no_sum(serve: Serve, run_cli: Run, topic: tuple[str, ...]) -> None:
    served = serve(fill=filled("A", "g"))
    served.fake.brokers[1].fault("ListGroups", silence)
    words = ("lag", "--by", "cluster", "-b", served.bootstrap, "--broker-timeout", "500ms", *topic)
    code, out, _ = run_cli(*words, "-o", "json")
    (row,) = json.loads(out)["items"]
    unknown = {key for key, value in row.items() if value is None}
    assert code == 1
    assert unknown == row.keys() - {"cluster_id", "known_lag", "listed", "note"}
    assert row["note"] == f"groups are missing: lag at least {row['known_lag']:,} in at least {row['listed']:,} group"


def test_lag_by_cluster_sums_up_groups(two: None, run_cli: Run) -> None:
    columns = "cluster,cluster_id,groups,total_lag,lagging_groups"
    _, out, _ = run_cli("lag", "--all-profiles", "--by", "cluster", "--top", "2", "--columns", columns, "-o", "csv")
    assert out.split()[1:] == ["b,B,2,10,2", "a,A,2,2,2"]
    code, out, err = run_cli("lag", "--profile", "a", "--by", "cluster", "--time")
    assert (code, out) == (2, "") and "--time is not supported" in err


def test_unknown_lag_of_a_group_makes_the_total_unknown(
    serve: Serve, profiles: Callable[..., None], run_cli: Run
) -> None:
    def fill(fake: FakeCluster) -> None:
        filled("A", "known")(fake)
        fake.state.group("lost", 0, commits={("deleted", 0): 3})

    profiles(a=serve(fill=fill).bootstrap)
    code, out, _ = run_cli("lag", "--all-profiles", "--by", "cluster", "-o", "json")
    (row,) = json.loads(out)["items"]
    assert (code, row["total_lag"], row["known_lag"], row["groups"], row["unknown_groups"]) == (1, None, 1, 2, 1)


@pytest.mark.parametrize("view", ["--offsets", "--members", "--state", "--summary"])
def test_describe_finds_a_group_wherever_it_is(two: None, run_cli: Run, view: str) -> None:
    code, out, _ = run_cli("describe", "there", "--all-profiles", view, "-o", "json")
    found = json.loads(out)
    assert (code, found["failures"]) == (0, [])
    assert {each["cluster"] for each in found["items"]} == (set() if view == "--members" else {"b"})


def test_explain_names_the_cluster_of_each_group(two: None, run_cli: Run) -> None:
    code, out, err = run_cli("explain", "both", "there", "--all-profiles")
    assert (code, err) == (0, "")
    heads = [block.partition("\n")[0] for block in out.split("\n\n")]
    assert [": ".join(line.split(": ")[:2]) for line in heads] == ["a: both", "b: both", "b: there"]
    assert all(line.endswith(f"--profile {line[0]}") for line in heads if "next: kgroups" in line)
    found = json.loads(run_cli("explain", "both", "--all-profiles", "-o", "json")[1])
    assert (found["cluster_id"], found["clusters"]) == (None, {"a": "A", "b": "B"})
    assert [(each["cluster"], each["group"]) for each in found["items"]] == [("a", "both"), ("b", "both")]
    code, _, err = run_cli("explain", "both", "--all-profiles", "--what-if", "members=+1")
    assert (code, "--what-if requires exactly one cluster" in err) == (2, True)


def test_explain_names_a_cluster_that_fails(serve: Serve, profiles: Callable[..., None], run_cli: Run) -> None:
    profiles(dead="127.0.0.1:1", good=serve(fill=filled("A", "g")).bootstrap)
    code, out, err = run_cli("explain", "g", "--all-profiles")
    assert (code, out.startswith("good: g: ")) == (1, True)
    assert err.startswith("kgroups: cluster dead: no bootstrap server responded")


def test_verdicts_name_the_cluster_of_each_partition(two: None, run_cli: Run) -> None:
    words = ("explain", "both", "there", "--all-profiles", "--partition", "orders:0")
    code, out, _ = run_cli(*words)
    heads = [line for line in out.splitlines() if not line.startswith(" ") and line]
    assert heads == [f"{name}: orders-0: PROBLEM: unassigned" for name in ("a: both", "b: both", "b: there")]
    found = json.loads(run_cli(*words, "-o", "json")[1])
    assert (found["cluster_id"], found["clusters"]) == (None, {"a": "A", "b": "B"})
    assert [(each["cluster"], each["group"], each["next"]) for each in found["items"]] == [
        ("a", "both", "kgroups explain both --profile a"),
        ("b", "both", "kgroups explain both --profile b"),
        ("b", "there", "kgroups explain there --profile b"),
    ]
    unread = {(each["cluster"], each["name"]) for each in found["failures"]}  # the logs contain no records
    assert (code, unread) == (1, {("a", "orders-0"), ("b", "orders-0")})


def test_verdicts_of_lagging_partitions_name_a_cluster_that_fails(
    serve: Serve, profiles: Callable[..., None], run_cli: Run
) -> None:
    profiles(dead="127.0.0.1:1", good=serve(fill=filled("A", "g")).bootstrap, idle=serve(fill=filled("I")).bootstrap)
    code, out, err = run_cli("explain", "--all-groups", "--lagging", "--all-profiles")
    assert (code, out.startswith("good: g: orders-0: PROBLEM: unassigned\n")) == (1, True)
    assert "kgroups: cluster dead: no bootstrap server responded" in err and "no partition" not in err
    code, out, err = run_cli("explain", "--all-groups", "--lagging", "--profile", "idle", "--profile", "!dead")
    assert (code, out) == (0, "") and "no partition of the selected groups lags" in err


def test_settings_that_cannot_be_read_in_time_are_a_failure(
    serve: Serve, profiles: Callable[..., None], run_cli: Run, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")  # without a writer
    hung = f'[profiles.hung]\nbootstrap = "h:1"\ncommand-config = "{tmp_path / "fifo"}"\n'
    profiles(hung, good=serve(fill=filled("A", "g")).bootstrap)
    code, out, err = run_cli("list", "--all-profiles", "--cluster-timeout", "1s", "--no-headers")
    assert (code, out.split()) == (1, ["good", "g"])
    assert err == "kgroups: cluster hung: its settings were not read within 1 s\n"


def test_group_that_no_cluster_has_is_one_failure(two: None, run_cli: Run) -> None:
    code, out, err = run_cli("describe", "nosuch", "--all-profiles", "--no-headers")
    assert (code, out) == (1, "")
    assert err == "kgroups: group 'nosuch': the group does not exist [GROUP_ID_NOT_FOUND]\n"


def test_group_may_exist_in_a_cluster_that_is_not_reached(
    serve: Serve, profiles: Callable[..., None], run_cli: Run
) -> None:
    profiles(dead="127.0.0.1:1", good=serve(fill=filled("A", "g")).bootstrap)
    code, out, err = run_cli("describe", "nosuch", "--all-profiles", "--no-headers")
    assert (code, out) == (1, "")
    assert "kgroups: cluster good: group 'nosuch': the group does not exist" in err


def test_pattern_without_a_match_is_one_note(two: None, run_cli: Run) -> None:
    code, _, err = run_cli("list", "--regex", "x.*", "--all-profiles")
    assert (code, err.count("no group matches")) == (0, 1)
    assert run_cli("list", "--regex", "th.*", "--all-profiles")[2] == ""


def test_cluster_that_fails_is_named_and_others_are_complete(
    serve: Serve, profiles: Callable[..., None], run_cli: Run
) -> None:
    good = serve(fill=filled("A", "g"))
    profiles(
        '[profiles.bad]\nbootstrap = "h:1"\ncommand-config = "nosuch.properties"\n',
        good=good.bootstrap,
        dead="127.0.0.1:1",
    )
    code, out, err = run_cli("list", "--all-profiles", "--no-headers")
    assert (code, out.split()) == (1, ["good", "g"])
    dead, bad = sorted(err.splitlines(), reverse=True)
    assert dead.startswith("kgroups: cluster dead: no bootstrap server responded")
    assert bad.startswith("kgroups: cluster bad: ") and "nosuch.properties" in bad


def test_hung_cluster_ends_with_its_own_time_limit(serve: Serve, profiles: Callable[..., None], run_cli: Run) -> None:
    profiles(good=serve(fill=filled("A", "g")).bootstrap, hung=serve(fill=silent).bootstrap)
    code, out, err = run_cli("list", "--all-profiles", "--cluster-timeout", "1s", "--no-headers")
    assert (code, out.split()[:2]) == (1, ["good", "g"])
    assert "cluster hung: " in err


def test_clusters_that_are_not_queried_in_time_are_named(
    serve: Serve, profiles: Callable[..., None], run_cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "PARALLEL", 1)
    profiles(hung=serve(fill=silent).bootstrap, late=serve(fill=filled("A", "g")).bootstrap)
    code, out, err = run_cli("list", "--all-profiles", "--timeout", "500ms", "--no-headers")
    assert (code, out) == (1, "")
    assert "cluster hung: " in err
    assert "cluster late: not queried: the time limit of the whole command expired" in err


def test_two_profiles_of_one_cluster_are_shown_once(serve: Serve, profiles: Callable[..., None], run_cli: Run) -> None:
    served = serve(fill=filled("A", "g"))
    profiles(one=served.bootstrap, two=served.bootstrap)
    code, out, err = run_cli("list", "--all-profiles", "--no-headers")
    assert (code, out.split()) == (0, ["one", "g"])
    assert err == "kgroups: note: two and one are the same cluster, shown once, as one\n"


def test_profile_list_check_connects_to_all_clusters(serve: Serve, profiles: Callable[..., None], run_cli: Run) -> None:
    profiles(b=serve(fill=filled("B", "g", "h")).bootstrap, dead="127.0.0.1:1")
    code, out, err = run_cli("profile", "list", "--check", "-o", "json")
    rows = [(row["profile"], row["cluster_id"], row["groups"], row["result"]) for row in json.loads(out)["items"]]
    assert (code, rows) == (1, [("b", "B", 2, "ok"), ("dead", None, None, "failed")])
    assert err.startswith("kgroups: cluster dead: no bootstrap server responded")
    code, _, err = run_cli("profile", "list", "--timeout", "1s")
    assert (code, "--timeout requires --check" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list", "--all-profiles", "-b", "h:1"), "--bootstrap-server cannot be combined with several profiles"),
        (("list", "--all-profiles", "-X", "a=b"), "-X cannot be combined with several profiles"),
        (("list", "--all-profiles", "--command-config", "f"), "--command-config cannot be combined"),
        (("list", "--profile", "a", "--cluster-timeout", "1s"), "--cluster-timeout requires several profiles"),
        (("config", "check", "--profile", "a", "--profile", "b"), "--profile: this command works on one cluster"),
        (("describe", "both", "--all-profiles", "--all-views"), "--all-views of several profiles supports json"),
        (("list", "--all-profiles", "--columns", "nosuch"), "use cluster, group"),
    ],
)
def test_what_is_for_one_cluster_is_rejected(two: None, run_cli: Run, words: tuple[str, ...], message: str) -> None:
    code, out, err = run_cli(*words)
    assert (code, out) == (2, "") and message in err


def test_environment_of_one_cluster_does_not_reach_the_others(
    two: None, run_cli: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "one.properties"
    file.write_text("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=p\n")
    monkeypatch.setenv("KGROUPS_COMMAND_CONFIG", str(file))
    monkeypatch.setenv("KGROUPS_BOOTSTRAP_SERVER", "127.0.0.1:1")
    assert run_cli("list", "--all-profiles")[0] == 0


def test_profile_behind_the_command_replaces_one_before_it(two: None, run_cli: Run) -> None:
    assert run_cli("--profile", "a", "list", "--profile", "b")[1].split() == ["both", "there"]
    assert run_cli("--profile=a", "list", "--profile=b")[1].split() == ["both", "there"]
    assert run_cli("--profile", "a", "list")[1].split() == ["both", "here"]
