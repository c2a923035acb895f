"""Who reads a partition, and which groups have members on a host, with a client ID, or on a coordinator."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

Run = Callable[..., tuple[int, str, str]]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1, 0])
    fake.state.topic("free", [0])
    web = FakeMember("web-1", {"orders": (0,)}, client_id="web-1", host="/10.0.4.17")
    job = FakeMember("job-1", {"orders": (1,)}, client_id="job-1", host="/10.0.4.18")
    fake.state.group("billing", 1, state="Stable", members=(web, job), commits={("orders", 0): 10, ("orders", 2): 5})
    fake.state.group("audit", 0, commits={("orders", 0): 100})
    modern = FakeMember("m", {"orders": (1,)}, client_id="web-2", host="/10.0.4.17")
    fake.state.group("shipping", 0, type="Consumer", state="Stable", members=(modern,))
    sharers = tuple(FakeMember(name, {"orders": (0,)}, client_id=name, host="/10.0.4.19") for name in ("s1", "s2"))
    fake.state.group("parcels", 0, type="Share", state="Stable", members=sharers, commits={("orders", 0): 7})
    busy = FakeMember("b", client_id="busy", host="/10.0.4.20")
    fake.state.group("busy", 0, state="PreparingRebalance", members=(busy,), commits={("orders", 0): 1})


@pytest.fixture
def served(serve: Callable[..., Any]) -> Any:
    return serve(fill=shop)


@pytest.fixture
def run(run_cli: Run, served: Any) -> Run:
    return lambda *words: run_cli(*words, "-b", served.bootstrap)


def owners(run: Run, *words: str, code: int = 0) -> list[tuple[Any, ...]]:
    got, out, _ = run("owners", *words, "-o", "json")
    assert got == code
    return [
        (row["partition"], row["group"], row["client_id"], row["current_offset"], row["note"])
        for row in json.loads(out)["items"]
    ]


def test_owners_of_a_partition_are_in_groups_of_every_type(run: Run) -> None:
    assert owners(run, "orders:0") == [
        (0, "audit", None, 100, "no member"),
        (0, "billing", "web-1", 10, None),
        (0, "busy", None, 1, "no owner while the group rebalances"),
        (0, "parcels", "s1", 7, "shared by 2 members"),
        (0, "parcels", "s2", 7, "shared by 2 members"),
    ]


def test_partition_without_owner_in_a_group_with_members_says_so(run: Run) -> None:
    assert owners(run, "orders:2") == [(2, "billing", None, 5, "no member owns it; the group has 2 members")]


def test_partition_that_no_group_reads_has_a_row(run: Run) -> None:
    assert owners(run, "free") == [(0, None, None, None, "no group reads it")]


def test_partition_that_only_the_lag_of_a_group_includes_names_the_group(run: Run, served: Any) -> None:
    served.state.topic("pay", [0, 1])
    served.state.group("pay-g", 0, commits={("pay", 0): 1})
    note = "no owner, and no committed offset; groups with the topic: pay-g"
    assert owners(run, "pay") == [(0, "pay-g", None, 1, "no member"), (1, None, None, None, note)]
    assert owners(run, "pay:1") == [(1, None, None, None, note)]


def test_missing_partition_and_topic_are_failures(run: Run) -> None:
    code, _, err = run("owners", "free:0,7", "nosuch")
    assert code == 1
    assert "partition 'free-7': the topic has 1 partition" in err
    assert "topic 'nosuch': the topic or partition does not exist" in err


@pytest.mark.parametrize(
    ("name", "partition"), [("orders-2", 2), ("orders-02", 2), ("orders-3", None), ("nosuch-0", None)]
)
def test_name_of_a_partition_is_answered_by_its_form_as_a_selection(run: Run, name: str, partition: int | None) -> None:
    code, _, err = run("owners", name)
    assert code == 1 and err.count(f"topic '{name}': the topic or partition does not exist") == 1
    hint = f"hint: for partition {partition} of topic orders: kgroups owners orders:{partition}"
    assert (hint in " ".join(err.split())) == (partition is not None)


def test_group_that_cannot_be_described_is_a_row_and_makes_the_others_uncertain(run: Run, served: Any) -> None:
    served.state.fail("DescribeGroups", "billing", ErrorCode.group_authorization_failed)
    served.state.fail("OffsetFetch", "billing", ErrorCode.group_authorization_failed)
    rows = owners(run, "free", code=1)
    assert rows[0] == (0, None, None, None, "no group found, but some groups are unknown")
    assert rows[1][:4] == (None, "billing", None, None)


def test_owners_on_a_host_are_the_partitions_of_its_members(run: Run) -> None:
    assert [row[:3] for row in owners(run, "--host", "10.0.4.17")] == [
        (0, "billing", "web-1"),
        (1, "shipping", "web-2"),
    ]


@pytest.mark.parametrize(
    ("words", "groups"),
    [
        ("--host 10.0.4.17", "billing shipping"),
        ("--host /10.0.4.18", "billing"),
        ("--host 10.0.4.1[89]", "billing parcels"),
        ("--client-id web-*", "billing shipping"),
        ("--client-id web-* --host 10.0.4.18", ""),
        ("--host 10.0.4.20 --host 10.0.4.18", "billing busy"),
        ("--coordinator 1", "billing"),
        ("--coordinator 127.0.0.1 --state empty", "audit"),
        ("--coordinator 1 --host 10.0.4.19", ""),
        ("b* --host 10.0.4.*", "billing busy"),
        ("--topic orders --host 10.0.4.17", "billing shipping"),
    ],
)
def test_list_filters_by_member_and_coordinator(run: Run, words: str, groups: str) -> None:
    code, out, err = run("list", *words.split())
    assert code == 0
    assert out.split() == groups.split()
    assert ("no " in err) == (not groups)


@pytest.mark.parametrize("command", ["list", "describe", "lag", "check", "explain", "owners"])
def test_commands_that_read_have_the_same_filters(run: Run, command: str) -> None:
    code, out, _ = run(command, "--client-id", "job-1", "-o", "json")
    assert code in (0, 1, 2)
    assert "billing" in out and "shipping" not in out and "audit" not in out


@pytest.mark.parametrize("command", ["list", "list --topic orders", "describe", "lag", "check", "owners"])
def test_groups_are_described_once_to_find_members_and_to_show_them(run: Run, served: Any, command: str) -> None:
    assert "billing" in run(*command.split(), "--host", "10.0.4.17", "-o", "json")[1]
    classic = [name for request in served.fake.asked("DescribeGroups") for name in request.keys]
    assert sorted(name for name in classic if name in ("billing", "busy")) == ["billing", "busy"]
    assert len(served.fake.asked("ConsumerGroupDescribe")) == len(served.fake.asked("ShareGroupDescribe")) == 1


def test_watch_filters(run: Run) -> None:
    _, out, _ = run("watch", "--coordinator", "1", "--count", "1")
    assert [each["group"] for each in json.loads(out)["items"]] == ["billing"]


def test_groups_without_members_are_not_described(run: Run, served: Any) -> None:
    assert run("list", "--host", "10.9.9.9")[0] == 0
    described = {name for request in served.fake.asked("DescribeGroups") for name in request.keys}
    assert "busy" in described and "audit" not in described
    assert not served.fake.asked("OffsetFetch")


def test_group_whose_members_are_unknown_is_not_left_out_silently(run: Run, served: Any) -> None:
    served.state.fail("DescribeGroups", "billing", ErrorCode.group_authorization_failed)
    code, out, err = run("list", "--host", "10.0.4.17")
    assert (code, out) == (1, "shipping\n")
    assert "group 'billing'" in err
    assert "whether it has a member of the selected hosts or client IDs is unknown" in err


def test_unknown_coordinator_is_a_failure(run: Run) -> None:
    code, out, err = run("list", "--coordinator", "9", "--coordinator", "1")
    assert (code, out) == (1, "billing\n")
    assert "broker 9: the cluster has no such broker, or it is down; brokers: 0 (127.0.0.1:" in err


def test_host_name_is_answered_by_what_brokers_report(run: Run) -> None:
    code, _, err = run("list", "--host", "pod-7")
    assert code == 0
    assert "no group matches with a member on the host pod-7; brokers report the addresses of hosts" in err


@pytest.mark.parametrize("option", ["--host", "--client-id", "--coordinator"])
def test_named_group_is_not_filtered(run: Run, option: str) -> None:
    code, _, err = run("describe", "billing", option, "1")
    assert code == 2
    assert "is selected by name and cannot be filtered" in err
    code, _, err = run("list", option, "")
    assert code == 2
    assert f"{option}: the value must not be empty" in err


def test_partition_in_topic_option_names_the_command(run: Run) -> None:
    code, _, err = run("describe", "billing", "--topic", "orders:3")
    assert code == 2
    assert "kgroups owners orders:3 --group billing" in err


def test_excluded_groups_are_left_out(run: Run) -> None:
    assert run("list", "--exclude", "b.*|audit")[:2] == (0, "parcels\nshipping\n")
    assert run("lag", "b*", "--exclude", "busy", "--columns", "group", "--no-headers")[:2] == (0, "billing\n")


@pytest.mark.parametrize("command", ["list", "lag"])
def test_exclusion_that_leaves_out_nothing_is_a_note(run: Run, command: str) -> None:
    code, _, err = run(command, "--exclude", "aud")
    assert code == 0
    assert "--exclude 'aud' leaves out no group: the whole name must match" in err


def test_rebalancing_is_each_state_of_a_rebalance(run: Run) -> None:
    assert run("list", "--state", "rebalancing")[:2] == (0, "busy\n")
    assert "busy" in run("describe", "--in-state", "Rebalancing,empty", "--summary")[1]
