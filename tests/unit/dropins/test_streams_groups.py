"""kafka-streams-groups over fake brokers; integration tests compare it with the Java tool."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kio.schema.errors import ErrorCode

from kgroups.dropins.joptsimple import OptionError, ParsedOptions
from kgroups.dropins.streams_groups import TOOL, check
from tests.fakes.streams_shop import IDLE, OTHER, RUNNING, open_shop
from tests.unit.conftest import Ran, Served

Ask = Callable[..., Ran]


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve(fill=open_shop)


@pytest.fixture
def ask(run_tool: Callable[..., Ran], served: Served) -> Ask:
    return lambda *words: run_tool(TOOL, "--bootstrap-server", served.bootstrap, *words)


def test_streams_list_filters_by_state(ask: Ask) -> None:
    assert ask("--list") == (0, f"{RUNNING}\n{IDLE}\n{OTHER}\n", "")
    assert ask("--list", "--state", "stable").out == f"{'GROUP':15} STATE\n{RUNNING:15} Stable\n"


def test_streams_offsets_are_of_partitions_read_by_active_tasks(ask: Ask) -> None:
    code, out, err = ask("--describe", "--group", RUNNING)
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["GROUP", "TOPIC", "PARTITION", "OFFSET-LAG"]
    assert [RUNNING, "orders", "0", "60"] in lines
    assert [RUNNING, "orders", "3", "100"] in lines  # nothing is committed: from the start of the log
    assert [RUNNING, "app-x-repartition", "0", "30"] in lines
    assert len(lines) == 1 + 4 + 1 + 2
    assert ask("--describe", "--group", IDLE, "--verbose") == (0, "", "")


def test_streams_members_show_their_tasks(ask: Ask) -> None:
    code, out, _ = ask("--describe", "--group", RUNNING, "--members")
    assert code == 0
    assert out.splitlines()[1].endswith("ACTIVE: 0:[0,2]; 1:[0]; STANDBY: 1:[1]; ")
    verbose = ask("--describe", "--group", RUNNING, "--members", "--verbose").out.splitlines()
    assert "WARMUP: 1:[0]; TARGET-ACTIVE: 0:[1,3]; 1:[1]; TARGET-WARMUP: 1:[0]; " in verbose[2]
    assert verbose[2].split()[:6] == [RUNNING, "6", "3", "m-2", "streams", "7"]


def test_streams_state_of_empty_group(ask: Ask) -> None:
    code, out, err = ask("--describe", "--group", IDLE, "--state", "--verbose")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["", f"Error: Streams group '{IDLE}' has no active members."]
    assert lines[3].split()[-4:] == ["Empty", "7", "6", "0"]


def test_streams_describe_other_groups_fail_and_keep_the_good_one(ask: Ask) -> None:
    code, out, _ = ask("--describe", "--group", "plain", "--group", RUNNING, "--group", "nobody", "--state")
    assert (code, out.count("Stable")) == (1, 1)
    assert "GroupIdNotFoundException: Group plain is not a streams group.\n" in out
    assert "GroupIdNotFoundException: Group nobody not found.\n" in out


def test_streams_reset_deletes_named_internal_topic(ask: Ask, served: Served) -> None:
    words = ("--reset-offsets", "--group", IDLE, "--all-input-topics", "--to-offset", "5")
    header = f"\n{'GROUP':30} {'TOPIC':30} {'PARTITION':10} {'NEW-OFFSET':15}\n"
    rows = "\n".join(f"{IDLE:30} {'orders':30} {at!s:10} {'5':15}" for at in (0, 1))
    assert ask(*words, "--dry-run") == (0, f"{header}{rows}\n", "")
    assert served.state.groups[IDLE].commits["orders", 0] == 40
    assert ask(*words, "--execute", "--delete-internal-topic", f"{IDLE}-x-changelog").code == 0
    assert f"{IDLE}-x-changelog" not in served.state.topics
    assert f"{IDLE}-x-repartition" in served.state.topics


def test_streams_partly_failed_reset_keeps_internal_topics(ask: Ask, served: Served) -> None:
    served.state.fail("OffsetCommit", "orders-1", ErrorCode.topic_authorization_failed)
    words = ("--reset-offsets", "--group", IDLE, "--all-input-topics", "--to-latest", "--execute")
    code, out, _ = ask(*words, "--delete-all-internal-topics")
    assert (code, out.splitlines()[4:]) == (1, [f"{IDLE:30} {'orders':30} {'0':10} {'100':15}"])
    assert f"{IDLE}-x-changelog" in served.state.topics


def test_streams_reset_of_uncommitted_topics_is_an_error(ask: Ask) -> None:
    words = ("--reset-offsets", "--group", IDLE, "--to-earliest", "--dry-run", "--input-topic")
    code, out, err = ask(*words, "orders")
    assert (code, out.splitlines()[4:], err) == (1, [], "")
    assert out.startswith(f"\nError: One or more topics are not part of the group '{IDLE}'.\n")
    assert ask(*words, "orders:0").code == 0


def test_streams_delete_removes_internal_topics_of_deleted_groups(ask: Ask, served: Served) -> None:
    code, out, _ = ask("--delete", "--group", IDLE, "--group", RUNNING, "--delete-all-internal-topics")
    assert code == 1
    assert f"\nThese streams groups were deleted successfully: '{IDLE}'.\n" in out
    assert f"Deletion of associated internal topics of the streams groups ('{IDLE}') was successful.\n" in out
    assert f"* Group '{RUNNING}' could not be deleted due to:" in out
    assert f"{IDLE}-x-changelog" not in served.state.topics
    assert f"{RUNNING}-x-changelog" in served.state.topics


def test_streams_delete_group_of_another_type_is_refused(ask: Ask, served: Served) -> None:
    code, out, err = ask("--delete", "--group", "plain")
    assert (code, "* Group 'plain' could not be deleted" in out, err) == (1, True, "")
    assert "plain" in served.state.groups


def test_streams_delete_offsets_keeps_internal_topics(ask: Ask, served: Served) -> None:
    code, out, err = ask("--delete-offsets", "--group", IDLE, "--all-input-topics")
    assert (code, err) == (0, "")
    assert out.startswith(f"Request succeeded for deleting offsets from group {IDLE}.\n")
    assert set(served.state.groups[IDLE].commits) == {(f"{IDLE}-x-repartition", 0)}
    code, out, err = ask("--delete-offsets", "--group", "nobody", "--all-input-topics")
    assert (code, "Group nobody not found.\n" in out, err) == (1, True, "")


def test_internal_topic_options_need_delete_or_reset() -> None:
    with pytest.raises(OptionError, match=r"takes one of these options: \[delete\], \[reset-offsets\]"):
        check(ParsedOptions({"bootstrap-server": ["b"], "list": [], "delete-all-internal-topics": []}))
