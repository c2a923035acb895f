"""``kafka-share-groups`` over fake brokers; integration tests compare the text with Java."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

import pytest
from kio.schema.errors import ErrorCode

from kgroups.dropins.joptsimple import OptionError, parse
from kgroups.dropins.share_groups import ACTIONS, OPTIONS, TOOL, check
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.unit.conftest import Ran

Run = Callable[..., Ran]


@pytest.fixture
def ask(run_tool: Run, serve: Callable) -> Run:
    return functools.partial(run_tool, TOOL, "--bootstrap-server", serve(fill=shop).bootstrap)


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], start=5, end=100)
    live = fake.state.group("live", 0, type="Share", protocol_type="share", state="Stable")
    live.members = (FakeMember("m-1", {"orders": (0, 1)}), FakeMember("m-2"))
    live.commits.update({("orders", 0): 90, ("orders", 1): -1})
    live.lags["orders", 0] = 2
    idle = fake.state.group("idle", 1, type="Share", protocol_type="share")
    idle.commits.update({("orders", 0): 3, ("orders", 1): 200})
    fake.state.group("new", 1, type="Share", protocol_type="share")
    fake.state.group("classic", 0, commits={("orders", 0): 1})


def cells(out: str) -> list[list[str]]:
    return [line.split() for line in out.split("\n")]


def test_share_list_filters_by_state(ask: Run) -> None:
    assert ask("--list") == (0, "idle\nlive\nnew\n", "")
    assert cells(ask("--list", "--state", "STABLE").out) == [["GROUP", "STATE"], ["live", "Stable"], []]
    wrong = ask("--list", "--state", "assigning")
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err.startswith("Invalid state list 'assigning'. Valid states are: Empty, Dead, Stable\n")


def test_share_describe_offsets_has_start_offset_and_lag(ask: Run) -> None:
    code, out, err = ask("--describe", "--all-groups")
    assert (code, err) == (0, "")
    header = ["GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG"]
    assert cells(out) == [
        *([], header, ["idle", "orders", "0", "3", "97"], ["idle", "orders", "1", "200", "-"]),
        *([], header, ["live", "orders", "0", "90", "2"], ["live", "orders", "1", "-", "-"]),
        *([], ["Share", "group", "'new'", "has", "no", "offset", "information."], []),
    ]
    assert cells(ask("--describe", "--group", "live", "--verbose").out)[2] == ["live", "orders", "0", "4", "90", "2"]


def test_share_describe_members_and_state(ask: Run) -> None:
    code, out, err = ask("--describe", "--group", "live", "--group", "idle", "--members", "--verbose")
    assert code == 0
    assert cells(out)[1:4] == [
        ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "MEMBER-EPOCH", "ASSIGNMENT"],
        ["live", "m-1", "/127.0.0.1", "client", "2", "7", "orders:0,1"],
        ["live", "m-2", "/127.0.0.1", "client", "0", "7"],
    ]
    assert err == "\nShare group 'idle' has no active members.\n"
    state = cells(ask("--describe", "--group", "live", "--state", "--verbose").out)
    assert state[1] == ["GROUP", "COORDINATOR", "(ID)", "STATE", "GROUP-EPOCH", "ASSIGNMENT-EPOCH", "#MEMBERS"]
    assert (state[2][0], *state[2][3:]) == ("live", "Stable", "7", "6", "2")


@pytest.mark.parametrize(
    ("name", "message"),
    [("classic", "Group classic is not a share group."), ("nope", "Group nope not found.")],
)
@pytest.mark.parametrize("view", ["--offsets", "--members", "--state"])
def test_share_describe_other_group_keeps_the_good_one(ask: Run, name: str, message: str, view: str) -> None:
    code, out, err = ask("--describe", "--group", "live", "--group", name, view)
    assert (code, "live" in out, err) == (1, True, "")
    exception = "org.apache.kafka.common.errors.GroupIdNotFoundException"
    assert out.endswith(f"\nError: Executing share group command failed due to {exception}: {message}\n")


def test_share_reset_writes_start_offsets(run_tool: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    ask = functools.partial(run_tool, TOOL, "--bootstrap-server", served.bootstrap, "--reset-offsets")
    code, out, _ = ask("--group", "idle", "--topic", "orders:0", "--to-earliest", "--dry-run")
    assert (code, cells(out)[2]) == (0, ["idle", "orders", "0", "5"])
    assert served.state.groups["idle"].commits["orders", 0] == 3
    assert ask("--group", "idle", "--all-topics", "--to-latest", "--execute").code == 0
    assert set(served.state.groups["idle"].commits.values()) == {100}
    assert ask("--group", "made", "--topic", "orders", "--to-earliest", "--execute").code == 0
    assert served.state.groups["made"].type == "Share"
    refused = ask("--group", "live", "--topic", "orders", "--to-latest", "--execute")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "Share group 'live' is not empty.\n"
    wrong = ask("--group", "classic", "--topic", "orders", "--to-latest", "--execute")
    assert "Group classic is not a share group." in wrong.out and wrong.out.count("\n") == 2
    assert (wrong.code, served.state.groups["classic"].commits) == (1, {("orders", 0): 1})
    served.state.fail("AlterShareGroupOffsets", "orders-1", ErrorCode.topic_authorization_failed)
    some = ask("--group", "idle", "--topic", "orders", "--to-earliest", "--execute")
    assert (some.code, [line[2] for line in cells(some.out)[2:3]]) == (1, ["0"])
    assert "needs the ACL READ on this topic" in some.err


def test_share_delete_reports_each_group(run_tool: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    ask = functools.partial(run_tool, TOOL, "--bootstrap-server", served.bootstrap, "--delete")
    code, out, err = ask("--group", "idle", "--group", "live", "--group", "classic")
    assert (code, err) == (1, "")
    assert out.endswith("\nThese share groups were deleted successfully: 'idle'\n")
    not_found = "org.apache.kafka.common.errors.GroupIdNotFoundException"
    assert f"could not be deleted due to: {not_found}: Group 'classic' is not a share group." in out
    assert "GroupNotEmptyException: Share group 'live' is not EMPTY." in out
    assert "classic" in served.state.groups
    served.state.groups["live"].members, served.state.groups["live"].state = (), "Empty"
    assert ask("--all-groups") == (0, "Deletion of requested share groups ('live', 'new') was successful.\n", "")


def test_share_delete_offsets_of_whole_topics(run_tool: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    ask = functools.partial(run_tool, TOOL, "--bootstrap-server", served.bootstrap, "--delete-offsets")
    assert cells(ask("--group", "idle", "--topic", "orders").out) == [
        *([], ["TOPIC", "STATUS"], ["orders", "Successful"], []),
    ]
    assert not served.state.groups["idle"].commits
    busy = ask("--group", "live", "--topic", "orders")
    assert (busy.code, busy.err) == (1, "")
    assert busy.out.startswith("\nError: The group is not empty.\n")
    assert cells(busy.out)[4][:2] == ["orders", "Error:"]


def test_share_list_on_old_brokers_is_an_error(run_tool: Run, serve: Callable) -> None:
    old = serve(brokers=1, versions="2.8.2")
    code, out, err = run_tool(TOOL, "--bootstrap-server", old.bootstrap, "--list")
    assert (code, out) == (1, "")
    assert "does not report group types (ListGroups v5, Kafka 3.8)" in err


def test_share_help_usage_and_version(run_tool: Run) -> None:
    code, out, err = run_tool(TOOL, "--help")
    assert (code, out) == (1, "")
    assert err == "This tool helps to list, describe, delete and manage the offsets of share groups.\n" + TOOL.usage()
    assert {option.name for option in OPTIONS} == set(re.findall("(?m)^--([a-z]\\S+)", TOOL.usage()))
    assert run_tool(TOOL, "--version") == (0, "4.4.0\n", "")


RESET = "--reset-offsets --group g --all-topics"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--delete", "Option [delete] takes the options [group] or [all-groups]."),
        ("--delete --group g --all-groups", "Option [delete] takes either [group] or [all-groups], not both."),
        ("--delete --group g --topic t", "Option [delete] does not take the options [topic] or [all-topics]."),
        ("--delete-offsets --group g", "Option [delete-offsets] takes the following options: [group], [topic]"),
        (f"{RESET} --to-latest", "Option [reset-offsets] takes the option: [execute] or [dry-run]"),
        ("--reset-offsets --all-topics --to-latest --execute", "Option [reset-offsets] takes the option: [group]"),
        ("--reset-offsets --group g --execute", "Option [reset-offsets] takes one of these options: [all-topics], "),
        (f"{RESET} --dry-run", "Option [reset-offsets] takes one of these options: [from-file], "),
        (f"{RESET} --to-latest --to-earliest --dry-run", 'Option "[to-earliest]" can\'t be used with '),
        (f"{RESET} --to-latest --execute --dry-run", "Option [reset-offsets] only accepts one of "),
        ("--execute", f"Command must include exactly one action: {', '.join(f'--{name}' for name in ACTIONS)}."),
    ],
)
def test_share_option_conflicts_have_kafka_messages(words: str, message: str) -> None:
    given = parse(OPTIONS, ["--bootstrap-server", "b", *words.split()])
    with pytest.raises(OptionError, match=f"^{re.escape(message)}"):
        check(given)


def test_share_names_are_escaped_on_terminals(run_tool: Run, serve: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(brokers=1)
    evil = served.state.group("evil\x1b[2J", 0, type="Share", protocol_type="share", state="Stable")
    evil.members = (FakeMember("m\x1b", {"t": (0,)}),)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for words in (["--list", "--state"], *(["--describe", "--all-groups", view] for view in ("--members", "--state"))):
        out = run_tool(TOOL, "--bootstrap-server", served.bootstrap, *words).out
        assert "evil\\x1b[2J" in out
        assert "\x1b" not in out
