"""Streams groups on the command line over fake brokers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.operations.plan_file import parse_plan
from tests.fakes.streams_shop import IDLE, OTHER, RUNNING, open_shop

Run = Callable[..., tuple[int, str, str]]
TASKS = "consumer_id,active_tasks,standby_tasks,warmup_tasks"
INTERNAL = (f"{IDLE}-x-changelog", f"{IDLE}-x-repartition")


@pytest.fixture
def served(serve: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return serve(fill=open_shop)


@pytest.fixture
def ask(run_cli: Run, served: Any) -> Run:
    return lambda command, *words: run_cli(command, "-b", served.bootstrap, *words)


def table(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()[1:]]


def test_streams_members_have_task_columns(ask: Run) -> None:
    code, out, _ = ask(
        "describe", RUNNING, "--members", "--columns", "consumer_id,active_tasks,standby_tasks,warmup_tasks"
    )
    assert (code, table(out)) == (0, [["m-1", "0:0,2;1:0", "1:1", "-"], ["m-2", "0:1,3;1:1", "-", "1:0"]])
    plain = ask("describe", "plain", RUNNING, "--members")[1].splitlines()
    assert plain[0].split()[-4:] == ["PROCESS-ID", "ACTIVE-TASKS", "STANDBY-TASKS", "WARMUP-TASKS"]
    assert "TASKS" not in ask("describe", "plain", "--members", "--wide")[1]


def test_streams_members_as_json(ask: Run) -> None:
    first, _ = json.loads(ask("describe", RUNNING, "--members", "-o", "json")[1])["items"]
    assert first["active_tasks"] == [
        {"subtopology": "0", "partitions": [0, 2]},
        {"subtopology": "1", "partitions": [0]},
    ]
    assert (first["client_tags"], first["user_endpoint"], first["warmup_tasks"]) == (
        {"zone": "a"},
        "localhost:65000",
        [],
    )


def test_describe_state_mixes_streams_and_other_groups(ask: Run) -> None:
    code, out, _ = ask("describe", "--all-groups", "--state", "-v")
    assert code == 0
    assert [row[0] for row in table(out)] == [RUNNING, IDLE, OTHER, "plain"]
    assert [row[-1] for row in table(out)] == ["3", "3", "3", "-"]


def test_describe_topology_lists_subtopologies(ask: Run) -> None:
    code, out, err = ask("describe", RUNNING, "plain", "--topology", "--columns", "subtopology,tasks,role,topic")
    assert (code, [line.split(maxsplit=2) for line in out.splitlines()[1:]]) == (
        0,
        [
            ["0", "4", "source              orders"],
            ["0", "4", "source              small"],
            ["0", "4", "repartition sink    app-x-repartition"],
            ["1", "2", "repartition source  app-x-repartition"],
            ["1", "2", "changelog           app-x-changelog"],
        ],
    )
    assert "group 'plain' is not a streams group" in err
    assert ask("describe", RUNNING, "--topology", "--members")[0] == 2


def test_reset_keeps_internal_topics(ask: Run, served: Any) -> None:
    code, out, err = ask("reset-offsets", IDLE, "--all-topics", "--to-earliest", "--execute", "--yes")
    assert (code, [row[1] for row in table(out)]) == (0, ["orders", "orders"])
    assert served.state.groups[IDLE].commits[INTERNAL[1], 0] == 20
    assert set(INTERNAL) <= served.state.topics.keys()
    code, out, err = ask("reset-offsets", IDLE, "--topic", INTERNAL[1], "--to-earliest")
    assert (code, table(out)) == (1, [])
    assert f"topic '{INTERNAL[1]}': not an input topic of streams group '{IDLE}'" in err


def test_reset_deletes_internal_topics_on_request(ask: Run, served: Any) -> None:
    words = ("reset-offsets", IDLE, RUNNING, "--all-topics", "--to-latest", "--delete-all-internal-topics")
    code, out, err = ask(*words)
    assert (code, [row[1] for row in table(out)]) == (1, ["orders", "orders", *INTERNAL])
    assert "an undo file cannot restore them" in err and set(INTERNAL) <= served.state.topics.keys()
    code, out, err = ask(*words, "--execute", "--yes")
    assert [row[-1] for row in table(out)] == ["applied"] * 4
    assert not set(INTERNAL) & served.state.topics.keys()
    assert f"{RUNNING}-x-changelog" in served.state.topics


def test_reset_deletes_only_the_named_internal_topic(ask: Run, served: Any) -> None:
    words = ("--delete-internal-topic", INTERNAL[0], "--delete-internal-topic", "orders", "--execute", "--yes")
    code, _out, err = ask("reset-offsets", IDLE, "--all-topics", "--to-latest", *words)
    assert (code, "orders" in served.state.topics, INTERNAL[0] in served.state.topics) == (1, True, False)
    assert INTERNAL[1] in served.state.topics
    assert "topic 'orders': not an internal topic of these groups" in err


def test_failed_reset_keeps_internal_topics(ask: Run, served: Any) -> None:
    served.state.fail("OffsetCommit", "orders-1", ErrorCode.topic_authorization_failed)
    words = ("--all-topics", "--to-latest", "--delete-all-internal-topics", "--execute", "--yes")
    code, out, err = ask("reset-offsets", IDLE, *words)
    assert (code, [row[-1] for row in table(out)][2:]) == (1, ["failed", "failed"])
    assert set(INTERNAL) <= served.state.topics.keys()
    assert f"kept: group '{IDLE}' was not changed successfully" in err


@pytest.mark.parametrize("command", [("reset-offsets", "--all-topics", "--to-latest"), ("delete",)])
def test_unreported_topology_is_an_error_when_deleting_topics(ask: Run, served: Any, command: tuple[str, ...]) -> None:
    served.state.groups[IDLE].subtopologies = None
    code, out, err = ask(command[0], IDLE, *command[1:], "--delete-all-internal-topics", "--execute", "--yes")
    assert (code, {row[-1] for row in table(out)}) == (1, {"applied"})
    assert f"group '{IDLE}': its topology is not reported" in err
    assert set(INTERNAL) <= served.state.topics.keys()


def test_unauthorized_topic_deletion_keeps_the_others(ask: Run, served: Any) -> None:
    served.state.fail("DeleteTopics", INTERNAL[0], ErrorCode.topic_authorization_failed)
    code, out, err = ask("delete", IDLE, "--delete-all-internal-topics", "--execute", "--yes")
    assert (code, [row[-1] for row in table(out)]) == (1, ["applied", "failed", "applied"])
    assert f"topic '{INTERNAL[0]}': " in err and "TOPIC_AUTHORIZATION_FAILED" in err
    assert (IDLE in served.state.groups, INTERNAL[1] in served.state.topics) == (False, False)


def test_refused_reset_names_the_api_that_reported_members(ask: Run) -> None:
    _, _, err = ask("reset-offsets", RUNNING, "--all-topics", "--to-latest")
    assert "[NON_EMPTY_GROUP, StreamsGroupDescribe, broker" in err


def test_delete_leaves_internal_topics_with_a_note(ask: Run, served: Any) -> None:
    code, _out, err = ask("delete", IDLE, "--execute", "--yes")
    assert (code, IDLE in served.state.groups) == (0, False)
    assert set(INTERNAL) <= served.state.topics.keys()
    assert f"internal topics of group '{IDLE}' are kept: {', '.join(INTERNAL)}" in err
    assert not [request for request in served.fake.requests if request.api == "DeleteTopics"]


def test_delete_removes_internal_topics_on_request(ask: Run, served: Any) -> None:
    words = ("delete", IDLE, OTHER, RUNNING, "--delete-all-internal-topics")
    code, out, _ = ask(*words)
    assert (code, [row[:1] + row[3:] for row in table(out)]) == (
        1,
        [
            *([IDLE, topic] for topic in ("-", *INTERNAL)),
            *([OTHER, topic] for topic in ("-", f"{OTHER}-x-changelog", f"{OTHER}-x-repartition")),
        ],
    )
    served.state.fail("DeleteGroups", OTHER, ErrorCode.non_empty_group)
    code, out, _err = ask(*words, "--execute", "--yes", "--undo-file", "undo.json")
    assert (code, [row[-1] for row in table(out)]) == (1, ["applied"] * 3 + ["failed"] * 3)
    assert not set(INTERNAL) & served.state.topics.keys()
    assert f"{OTHER}-x-changelog" in served.state.topics
    assert parse_plan(Path("undo.json").read_text(), "undo").rows


def test_export_conflicts_with_internal_topic_deletion(ask: Run) -> None:
    code, _, err = ask("reset-offsets", IDLE, "--all-topics", "--to-latest", "--export", "--delete-all-internal-topics")
    assert (code, "--export cannot be combined with the deletion of internal topics" in err) == (2, True)


def test_delete_offsets_of_running_application_is_refused(ask: Run, served: Any) -> None:
    code, _out, err = ask("delete-offsets", RUNNING, "--topic", "orders", "--execute", "--yes")
    assert (code, "GROUP_SUBSCRIBED_TO_TOPIC" in err) == (1, True)
    assert served.state.groups[RUNNING].commits["orders", 0] == 40


def test_remove_members_of_streams_group_is_refused(ask: Run, served: Any) -> None:
    code, _out, err = ask("remove-members", RUNNING, "--all-members", "--execute", "--yes")
    assert (code, "members of streams groups cannot be removed; stop them" in err) == (1, True)
    assert not [request for request in served.fake.requests if request.api == "LeaveGroup"]


def test_delete_internal_topic_of_no_group_is_refused(ask: Run) -> None:
    code, _, err = ask("reset-offsets", "plain", "--all-topics", "--to-latest", "--delete-internal-topic", "x")
    assert (code, "topic 'x': not an internal topic of these groups" in err) == (1, True)
