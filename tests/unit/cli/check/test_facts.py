"""``check`` and the other commands judge the same facts: subscriptions, open transactions, and what rules match."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember, subscription_bytes

Run = Callable[..., tuple[int, str, str]]


def moved(fake: FakeCluster) -> None:
    """Group ``moved`` left topic ``old``; ``pending`` has an open transaction; ``static`` kept its old assignment."""
    fake.state.topic("old", [0, 1])
    fake.state.topic("new", [0, 1])
    fake.state.topic("__consumer_offsets", [0, 1])
    ends = {("new", 0): 100, ("new", 1): 100}
    member = FakeMember("m", {"new": (0, 1)})
    fake.state.group("moved", 0, state="Stable", members=(member,), commits=ends | {("old", 0): 5, ("old", 1): 5})
    fake.state.group("done", 0, state="Stable", members=(member,), commits=ends | {("old", 0): 100, ("old", 1): 100})
    fake.state.group("partly", 0, state="Stable", members=(member,), commits=ends | {("old", 0): 100})
    fake.state.group("pending", 1, commits=ends, pending={("new", 1)})
    static = FakeMember("s", {"old": (0, 1)}, instance_id="i", metadata=subscription_bytes(["new"]))
    commits = {("old", 0): 100, ("old", 1): 100}
    fake.state.group("static", 0, state="Stable", members=(static,), commits=commits)
    fake.state.group("team[eu]-app", 1, commits={("new", 0): 40, ("new", 1): 100})
    fake.state.group("teame-app", 1, commits=ends)


@pytest.fixture
def run(run_cli: Run, serve: Callable) -> Callable[..., tuple[int, str, str]]:
    served = serve(fill=moved)
    return lambda command, *words: run_cli(command, "-b", served.bootstrap, *words)


def findings(answer: tuple[int, str, str]) -> dict[str, tuple[str, str]]:
    return {item["check"]: (item["status"], item["message"]) for item in json.loads(answer[1])["items"]}


LEFT = "not included: 2 partitions of topics that no member subscribes to: old; 190 records are unread there"


def test_check_leaves_out_topics_that_no_member_subscribes_to(run: Run) -> None:
    answer = run("check", "moved", "--assigned", "--max-lag", "0", "--max-topic-lag", "*=0", "-o", "json")
    found = findings(answer)
    assert answer[0] == 1
    hint = "start the consumer that is missing, or if the topics are not needed, use kgroups delete-offsets"
    assert found["subscribed"] == ("WARNING", f"{LEFT}; {hint}")
    assert found["assigned"] == ("OK", "each of 2 partitions has one member")
    assert found["lag"] == ("OK", "lag 0")


def test_rules_that_name_a_topic_without_subscribers_judge_it(run: Run) -> None:
    code, out, _ = run("check", "moved", "--max-topic-lag", "old=10", "-o", "json")
    assert code == 2 and findings((code, out, ""))["topic-lag"][0] == "CRITICAL"
    code, out, _ = run("check", "moved", "--topic", "old", "--max-lag", "10", "-o", "json")
    found = findings((code, out, ""))
    assert code == 2 and found["lag"] == ("CRITICAL", "lag 190 is above 10") and "subscribed" not in found
    found = findings(run("check", "moved", "--max-topic-lag", "ol*=10", "-o", "json"))
    assert found["topic-lag"] == ("UNKNOWN", "no member subscribes to a topic that matches 'ol*'")


def test_nothing_is_ok_while_records_are_unread_on_a_topic_without_subscribers(run: Run) -> None:
    reason = "190 records are unread on old, to which no member subscribes"
    (row,) = json.loads(run("lag", "moved", "-o", "json")[1])["items"]
    assert row["status"] == "not subscribed"
    (row,) = json.loads(run("lag", "moved", "--only-lagging", "--min", "100", "-o", "json")[1])["items"]
    assert row["group"] == "moved"
    assert reason in run("explain", "moved")[1]
    (row,) = json.loads(run("describe", "moved", "--summary", "-o", "json")[1])["items"]
    assert row["status"] == "not subscribed"


def test_nothing_unread_on_a_topic_without_subscribers_is_ok(run: Run) -> None:
    code, out, _ = run("check", "done", "-o", "json")
    assert (code, findings((code, out, ""))["subscribed"][0]) == (0, "OK")
    (row,) = json.loads(run("lag", "done", "-o", "json")[1])["items"]
    assert (row["status"], "unread" in row["note"]) == ("ok", False)


def test_unknown_lag_on_a_topic_without_subscribers_is_unknown(run: Run) -> None:
    code, out, _ = run("check", "partly", "-o", "json")
    assert (code, findings((code, out, ""))["subscribed"][0]) == (3, "UNKNOWN")
    (row,) = json.loads(run("lag", "partly", "-o", "json")[1])["items"]
    assert row["status"] == "unknown"
    assert "unknown whether records are unread on old, to which no member subscribes" in run("explain", "partly")[1]


def test_delete_offsets_says_how_many_records_are_unread(run: Run) -> None:
    _, _, err = run("delete-offsets", "moved", "--topic", "old")
    assert "group 'moved': 190 records are unread on old, after the offsets to delete" in err
    assert "unread" not in run("delete-offsets", "done", "--topic", "old")[2]


def test_lag_and_describe_say_that_no_member_subscribes_to_a_topic(run: Run) -> None:
    (row,) = json.loads(run("lag", "moved", "-o", "json")[1])["items"]
    assert (row["total_lag"], row["partitions"], row["note"]) == (0, 2, LEFT)
    by_topic = json.loads(run("lag", "moved", "--by", "topic", "-o", "json")[1])["items"]
    assert [(row["topic"], row["total_lag"]) for row in by_topic] == [("new", 0), ("old", 190)]
    rows = json.loads(run("describe", "moved", "-o", "json")[1])["items"]
    assert {row["topic"]: row["note"] for row in rows} == {"new": None, "old": "no member subscribes to this topic"}
    _, out, _ = run("explain", "moved")
    assert "no member subscribes to 1 topic with committed offsets on 2 partitions: old" in out
    assert "kgroups delete-offsets moved --topic old" in out


def test_explain_partition_of_a_topic_that_no_member_subscribes_to(run: Run) -> None:
    _, out, err = run("explain", "moved", "--lagging")
    assert "old" not in out and f"group 'moved': {LEFT}" in err
    _, out, _ = run("explain", "moved", "--partition", "old:0", "-o", "json")
    (item,) = json.loads(out)["items"]
    assert (item["verdict"], item["next"]) == ("not-subscribed", "kgroups describe moved --members")


def test_check_joins_subscription_and_assignment(run: Run) -> None:
    answer = run("check", "static", "--assigned", "--max-lag", "10", "-o", "json")
    found = findings(answer)
    assert answer[0] == 2
    assert found["assigned"] == (
        "CRITICAL",
        "2 partitions not assigned: new-0, new-1; 2 partitions assigned to members that do not subscribe to the "
        "topic: old-0, old-1",
    )
    assert found["lag"][0] == "UNKNOWN"
    _, out, _ = run("explain", "static")
    assert "2 partitions assigned to a member that does not subscribe to the topic: old-0, old-1" in out
    rows = json.loads(run("describe", "static", "-o", "json")[1])["items"]
    assert {row["note"] for row in rows} == {"the owner does not subscribe to this topic"}


def test_open_transaction_is_a_client_of_the_group(run: Run) -> None:
    code, out, _ = run("check", "pending", "--stopped")
    assert code == 2 and "no members, but an open transaction has offsets of 1 partition: new-1" in out
    (row,) = json.loads(run("lag", "pending", "-o", "json")[1])["items"]
    assert (row["total_lag"], row["note"]) == (0, "an open transaction has offsets of 1 partition: new-1")
    rows = json.loads(run("describe", "pending", "-o", "json")[1])["items"]
    assert [row["note"] for row in rows] == [None, "an open transaction is going to replace the commit"]
    assert (
        "it has no members, but an open transaction has offsets of 1 partition: new-1" in run("explain", "pending")[1]
    )


def rules(tmp_path: Path, *groups: str) -> str:
    file = tmp_path / "rules.toml"
    file.write_text("".join(f"[[rule]]\ngroups = ['{name}']\nmax-lag = 10\n\n" for name in groups))
    return str(file)


def test_glob_in_rules_also_means_the_group_with_this_name(run: Run, tmp_path: Path) -> None:
    answer = run("check", "--rules", rules(tmp_path, "team[eu]-app"), "-o", "json")
    items: list[Any] = json.loads(answer[1])["items"]
    lags = {item["group"]: item["status"] for item in items if item["check"] == "lag"}
    assert answer[0] == 2 and lags == {"team[eu]-app": "CRITICAL", "teame-app": "OK"}
    code, out, _ = run("check", "--lint", rules(tmp_path, "team[eu]-app"))
    assert code == 0 and "line 2: 'team[eu]-app' is a glob, and also matches a group with exactly this name" in out


@pytest.mark.parametrize("more", [(), ("--all-groups",)])
def test_rule_that_matches_no_group_is_unknown(run: Run, tmp_path: Path, more: tuple[str, ...]) -> None:
    path = rules(tmp_path, "teame-app", "nosuch-*")
    code, out, _ = run("check", "--rules", path, *more, "-o", "json")
    (bad,) = [item for item in json.loads(out)["items"] if item["check"] == "rule"]
    assert (bad["status"], bad["message"]) == ("UNKNOWN", f"{path}, line 6: no group matches 'nosuch-*'")
    assert code == 3


def test_rules_of_other_groups_need_no_match_if_groups_are_selected(run: Run, tmp_path: Path) -> None:
    path = rules(tmp_path, "teame-app", "nosuch-*")
    assert run("check", "teame-app", "--rules", path)[0] == 0
    code, out, _ = run("check", "moved", "--rules", path)
    assert code == 3 and "no group matches 'teame-app'" in out


@pytest.mark.parametrize("words", [(), ("-o", "json")])
def test_describe_names_partitions_without_a_row(run_cli: Run, serve: Callable, words: tuple[str, ...]) -> None:
    def added(fake: FakeCluster) -> None:
        fake.state.topic("t", [0, 1])
        fake.state.group("simple", 0, state="Empty", commits={("t", 0): 100})
        fake.state.group("whole", 0, state="Empty", commits={("t", 0): 100, ("t", 1): 100})

    served = serve(fill=added)
    code, _, err = run_cli("describe", "simple", "-b", served.bootstrap, *words)
    assert code == 0 and "not shown: 1 partition without a committed offset and an owner" in err
    assert "to see them: kgroups lag simple --by partition" in err
    brokers = {request.broker for request in served.fake.asked("ListOffsets")}
    assert brokers == {0}, "a broker that leads none of the rows may hang"
    assert "not shown" not in run_cli("describe", "whole", "-b", served.bootstrap, *words)[2]
