"""Changes with kafka-consumer-groups over fake brokers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode

from kgroups.dropins.consumer_groups import TOOL
from kgroups.dropins.joptsimple import OptionError
from kgroups.dropins.topics import topics_of
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.unit.conftest import Ran, Served

Ask = Callable[..., Ran]

FAILED = "\nError: Executing consumer group command failed due to "
HEADER = f"\n{'GROUP':15} {'TOPIC':15} {'PARTITION':10} NEW-OFFSET\n"


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve(fill=shop)


@pytest.fixture
def ask(run_tool: Callable[..., Ran], served: Served) -> Ask:
    return lambda *words: run_tool(TOOL, "--bootstrap-server", served.bootstrap, *words)


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], start=5, end=100)
    member = FakeMember("m-1", {"orders": (0, 1)})
    fake.state.group("busy", 0, state="Stable", members=(member,), commits={("orders", 0): 90})
    fake.state.group("idle", 1, commits={("orders", 0): 30, ("orders", 1): 40})
    fake.state.group("other", 0, commits={("orders", 1): 60})


def commits(served: Served, group: str) -> dict[tuple[str, int], int]:
    made = served.state.groups[group].commits
    return {pair: commit if isinstance(commit, int) else commit.offset for pair, commit in made.items()}


def row(group: str, partition: int, offset: int) -> str:
    return f"{group:15} {'orders':15} {partition!s:10} {offset}\n"


def test_reset_dry_run_changes_nothing(ask: Ask, served: Served) -> None:
    words = ("--reset-offsets", "--group", "idle", "--all-topics", "--to-earliest")
    assert ask(*words, "--dry-run") == (0, HEADER + row("idle", 0, 5) + row("idle", 1, 5), "")
    assert commits(served, "idle") == {("orders", 0): 30, ("orders", 1): 40}


def test_reset_by_empty_duration_is_one_line_error(ask: Ask) -> None:
    code, out, err = ask("--reset-offsets", "--group", "idle", "--topic", "orders", "--by-duration", "", "--dry-run")
    assert (code, out) == (1, f"{FAILED}Text cannot be parsed to a Duration\n") and "'' is not a duration" in err


def test_reset_from_file_without_a_selected_group_is_an_error(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text("other,orders,1,50\n")
    words = ("--reset-offsets", "--group", "idle", "--group", "other", "--from-file", str(file), "--dry-run")
    code, out, err = ask(*words)
    assert (code, err) == (1, "")
    assert out.endswith(row("other", 1, 50) + "\nError: No reset plan for group idle found.\n")


@pytest.mark.parametrize(
    "words,cause",
    [
        ("--topic orders:1,0,0 --to-offset 500", "Duplicate key orders-0 (attempted merging values 500 and 500)"),
        ("--topic orders:1 --topic orders --shift-by 9", "Duplicate key orders-1 (attempted merging values 49 and 49)"),
        ("--topic orders:0 --topic orders:0 --to-earliest", "Duplicate key orders-0"),
        ("--topic orders:9,8,9 --to-earliest", 'The partitions "orders-9,orders-8,orders-9" do not exist'),
    ],
)
def test_reset_of_a_partition_that_is_named_twice_is_rejected_as_by_kafka(
    ask: Ask, served: Served, words: str, cause: str
) -> None:
    code, out, _ = ask("--reset-offsets", "--group", "idle", *words.split(), "--execute")
    assert (code, out) == (1, f"{FAILED}{cause}\n")
    assert commits(served, "idle") == {("orders", 0): 30, ("orders", 1): 40}


def test_reset_of_an_active_group_comes_before_a_partition_that_is_named_twice(ask: Ask) -> None:
    code, out, _ = ask("--reset-offsets", "--group", "busy", "--topic", "orders:0,0", "--to-earliest", "--dry-run")
    assert code == 1 and "can only be reset if the group 'busy' is inactive" in out and "Duplicate" not in out


def test_reset_without_partitions_of_a_topic_has_an_empty_table(ask: Ask) -> None:
    words = ("--reset-offsets", "--group", "idle", "--topic", "orders:,", "--to-earliest", "--dry-run")
    assert ask(*words)[:2] == (0, HEADER)


def test_delete_offsets_of_missing_group_and_topic_names_the_group_first(ask: Ask) -> None:
    code, out, err = ask("--delete-offsets", "--group", "absent", "--topic", "nowhere")
    assert code == 1 and out.startswith("\nError: The group id does not exist.\n\nTOPIC") and "nowhere" in err


def test_reset_execute_writes_what_it_shows(ask: Ask, served: Served) -> None:
    words = ("--reset-offsets", "--group", "idle", "--topic", "orders:1", "--shift-by", "-10", "--execute")
    assert ask(*words) == (0, HEADER + row("idle", 1, 30), "")
    assert commits(served, "idle") == {("orders", 0): 30, ("orders", 1): 30}


def test_reset_refuses_active_group_and_resets_the_other(ask: Ask, served: Served) -> None:
    code, out, err = ask(
        "--reset-offsets", "--group", "busy", "--group", "idle", "--all-topics", "--to-latest", "--execute"
    )
    inactive = "Assignments can only be reset if the group 'busy' is inactive, but the current state is Stable."
    table = HEADER + row("idle", 0, 100) + row("idle", 1, 100)
    assert (code, out, err) == (1, f"\nError: {inactive}\n{table}", "")
    assert commits(served, "busy") == {("orders", 0): 90}


def test_reset_failed_partition_is_not_shown(ask: Ask, served: Served) -> None:
    served.state.fail("OffsetCommit", "orders-1", ErrorCode.topic_authorization_failed)
    code, out, err = ask("--reset-offsets", "--group", "idle", "--all-topics", "--to-latest", "--execute")
    assert code == 1 and out.startswith(FAILED) and out.endswith(HEADER + row("idle", 0, 100))
    assert "orders-1" in err


def test_reset_all_groups_refuses_active_ones(ask: Ask) -> None:
    code, out, err = ask("--reset-offsets", "--all-groups", "--all-topics", "--to-current", "--dry-run")
    assert code == 1 and out.endswith(HEADER + row("idle", 0, 30) + row("idle", 1, 40) + row("other", 1, 60))
    assert "'busy' is inactive" in out and err == ""


def test_reset_export_can_be_imported(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "plan.csv"
    words = ("--reset-offsets", "--group", "idle", "--dry-run")
    code, out, _ = ask(*words, "--all-topics", "--to-offset", "50", "--export")
    assert (code, out) == (0, "orders,0,50\norders,1,50\n\n")
    path.write_text(out)
    assert ask(*words, "--from-file", str(path)).out == HEADER + row("idle", 0, 50) + row("idle", 1, 50)


def test_reset_export_of_several_groups_has_group_column(ask: Ask) -> None:
    words = ("--reset-offsets", "--group", "idle", "--group", "other", "--all-topics", "--to-offset", "50")
    assert ask(*words, "--export", "--dry-run").out == "idle,orders,0,50\nidle,orders,1,50\nother,orders,1,50\n\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--all-topics --to-offset x", "Cannot parse argument 'x' of option to-offset"),
        ("--all-topics --to-datetime yesterday", "'yesterday' is not a time"),
        ("--all-topics --by-duration soon", "'soon' is not a duration"),
        ("--topic orders:x --to-latest", "Invalid partition 'x' specified in topic arg 'orders:x''"),
        ("--topic nowhere --to-latest", "topic 'nowhere' does not exist"),
        ("--topic orders:7 --to-latest", "topic 'orders' has no partition 7"),
        ("--from-file /no/such/file", "--from-file: cannot read /no/such/file: No such file"),
    ],
)
def test_reset_invalid_arguments_change_nothing(ask: Ask, served: Served, words: str, message: str) -> None:
    code, out, err = ask("--reset-offsets", "--group", "idle", *words.split(), "--execute")
    assert code == 1 and (not out or (out.startswith(FAILED) and out.count("\n") == 2))
    assert message in out + err
    assert commits(served, "idle") == {("orders", 0): 30, ("orders", 1): 40}


def test_reset_from_invalid_file_is_an_error(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "plan"
    for content, output in ((b"\xff\xfe", "is not UTF-8"), (b"", "the file contains no offsets"), (b"a,b\n", "line 1")):
        path.write_bytes(content)
        code, out, err = ask("--reset-offsets", "--group", "idle", "--from-file", str(path), "--dry-run")
        assert (code, out) == (1, "")
        assert output in err


def test_delete_one_group_matches_kafka(ask: Ask, served: Served) -> None:
    assert ask("--delete", "--group", "idle") == (
        0,
        "Deletion of requested consumer groups ('idle') was successful.\n",
        "",
    )
    assert "idle" not in served.state.groups


def test_delete_all_groups_reports_active_ones(ask: Ask, served: Served) -> None:
    code, out, err = ask("--delete", "--all-groups")
    assert (code, err) == (1, "")
    assert out == (
        "\nError: Deletion of some consumer groups failed:\n* Group 'busy' could not be deleted due to: "
        "org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty.\n"
        "\nThese consumer groups were deleted successfully: 'idle', 'other'\n"
    )
    assert sorted(served.state.groups) == ["busy"]


def test_delete_offsets_of_one_partition(ask: Ask, served: Served) -> None:
    code, out, err = ask("--delete-offsets", "--group", "idle", "--topic", "orders:1")
    assert (code, err) == (0, "")
    assert out.startswith("Request succeeded for deleting offsets from group idle.\n\nTOPIC ")
    assert out.splitlines()[3].split() == ["orders", "1", "Successful"]
    assert commits(served, "idle") == {("orders", 0): 30}


def test_delete_offsets_of_unknown_topic_deletes_the_others(ask: Ask) -> None:
    code, out, err = ask("--delete-offsets", "--group", "idle", "--topic", "orders", "--topic", "nowhere")
    assert code == 1
    lines = [line.split()[:3] for line in out.splitlines()[3:]]
    assert lines == [["nowhere", "-", "Error:"], ["orders", "0", "Successful"], ["orders", "1", "Successful"]]
    assert err == "Error: topic 'nowhere': the topic or partition does not exist (deleted?)\n"


def test_delete_offsets_of_missing_group_is_an_error(ask: Ask) -> None:
    code, out, err = ask("--delete-offsets", "--group", "nope", "--topic", "orders:0")
    assert (code, err) == (1, "")
    assert "GroupIdNotFoundException: The group id does not exist." in out
    assert out.startswith("\nError: The group id does not exist.\n")


@pytest.mark.parametrize(
    ("words", "scope"),
    [
        ("t", {"t": None}),
        ("t:0,1", {"t": {0, 1}}),
        ("t:0 t:1", {"t": {0, 1}}),
        ("t:0 t", {"t": None}),
        ("t t:0", {"t": None}),
        ("t:0,", {"t": {0}}),
        ("t:0,0", {"t": {0}}),
        ("t:,", {"t": set()}),
        ("a:-1 b", {"a": {-1}, "b": None}),
    ],
)
def test_topic_arguments_are_parsed(words: str, scope: dict[str, set[int] | None]) -> None:
    assert topics_of(words.split()) == scope


@pytest.mark.parametrize("word", ["t:", "t:0:1", ":0", "t:x", "t:0,,1", "t:0-3", "t:99999999999", "t: 1"])
def test_topic_arguments_that_are_invalid_are_rejected(word: str) -> None:
    with pytest.raises(OptionError, match="Invalid"):
        topics_of([word])
