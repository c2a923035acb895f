"""kafka-streams-application-reset over fake brokers; integration tests compare it with the Java tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode

from kgroups.dropins.streams_application_reset import TOOL
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.unit.conftest import Ran, Served

Ask = Callable[..., Ran]
APP = "app"
INTERNAL = [f"{APP}-by-value-repartition", f"{APP}-counts-changelog"]
OTHERS = {f"{APP}-output", f"{APP}-changelog", "other-counts-changelog"}
DONE = "Done.\n"


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], start=5, end=100)
    fake.state.topic("small", [0], end=10)
    for name in (*INTERNAL, *OTHERS):
        fake.state.topic(name, [0], end=50)
    fake.state.group(APP, 1, commits={("orders", 0): 40, ("small", 0): 9, (INTERNAL[0], 0): 20})


def join(served: Served) -> None:
    served.state.groups[APP].state = "Stable"
    served.state.groups[APP].members = (FakeMember("m-1", {"orders": (0, 1)}),)


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve(fill=shop)


@pytest.fixture
def ask(run_tool: Callable[..., Ran], served: Served) -> Ask:
    return lambda *words: run_tool(TOOL, "--bootstrap-server", served.bootstrap, "--application-id", APP, *words)


def committed(served: Served) -> dict[tuple[str, int], int]:
    commits = served.state.groups[APP].commits
    return {pair: getattr(commit, "offset", commit) for pair, commit in commits.items() if pair[0] not in INTERNAL}


def test_reset_writes_offsets_then_deletes_internal_topics(ask: Ask, served: Served) -> None:
    words = ("--input-topics", "orders", "--intermediate-topics", "small")
    lines = [
        "WARN: `--intermediate-topics` is deprecated and will be removed in a future release",
        "Reset-offsets for input topics [orders]",
        "Seek-to-end for intermediate topics [small]",
        f"Following input topics offsets will be reset to (for consumer group {APP})",
        "Topic: orders Partition: 0 Offset: 5",
        "Topic: orders Partition: 1 Offset: 5",
        f"Following intermediate topics offsets will be reset to end (for consumer group {APP})",
        "Topic: small",
        "Done.",
        f"Deleting inferred internal topics [{', '.join(INTERNAL)}]",
        "Done.",
    ]
    rehearsed = ask(*words, "--dry-run")
    assert rehearsed.code == 0
    assert rehearsed.out.splitlines()[1:] == lines
    assert committed(served) == {("orders", 0): 40, ("small", 0): 9}
    assert ask(*words) == (0, "".join(f"{line}\n" for line in lines), "")
    assert committed(served) == {("orders", 0): 5, ("orders", 1): 5, ("small", 0): 10}
    assert served.state.topics.keys() == {"orders", "small", *OTHERS}


def test_failed_write_keeps_internal_topics(ask: Ask, served: Served) -> None:
    served.state.fail("OffsetCommit", "orders-1", ErrorCode.topic_authorization_failed)
    code, out, err = ask("--input-topics", "orders")
    assert (code, out.count(DONE), out.count("Deleting")) == (1, 0, 0)
    assert "orders-1" in err
    assert set(INTERNAL) <= served.state.topics.keys()


def test_failed_deletion_is_an_error(ask: Ask, served: Served) -> None:
    served.state.fail("DeleteTopics", INTERNAL[1], ErrorCode.topic_authorization_failed)
    code, out, err = ask()
    assert (code, out.count(DONE)) == (1, 0)
    assert err.splitlines()[:3] == [
        f"ERROR: deleting topic {INTERNAL[1]}",
        "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TopicAuthorizationException: "
        "Topic authorization failed.",
        "ERROR: java.lang.RuntimeException: Encountered an error deleting one or more topics",
    ]
    assert "DELETE on TOPIC" in err


def test_members_prevent_a_reset_without_force(ask: Ask, served: Served) -> None:
    join(served)
    code, out, err = ask("--input-topics", "orders")
    assert (code, out) == (1, "")
    first, second = err.splitlines()
    assert first.startswith(f"ERROR: java.lang.IllegalStateException: Consumer group '{APP}' is still active and has")
    assert "assignment=(topicPartitions=orders-0,orders-1)" in first
    assert second == f"Error: group '{APP}' has 1 member; stop the application, or add --force; nothing was changed"
    assert committed(served) == {("orders", 0): 40, ("small", 0): 9}


def test_forced_dry_run_removes_no_members(ask: Ask, served: Served) -> None:
    join(served)
    code, out, err = ask("--input-topics", "orders", "--force", "--dry-run")
    assert (code, err) == (0, "kgroups: note: dry run: no members were removed\n")
    assert out.startswith(f"Force deleting all active members in the group: {APP}\n----Dry run displays")
    assert "Topic: orders Partition: 1 Offset: 5\n" in out
    assert served.state.groups[APP].members


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--internal-topics", f"{APP}-output"), f"--internal-topics: not internal topics of '{APP}': {APP}-output"),
        (("--input-topics", "orders", "--to-datetime", "2026"), "'2026' is not a time"),
        (("--input-topics", "orders", "--to-offset", "x"), "Cannot parse argument 'x' of option to-offset"),
    ],
)
def test_force_removes_no_members_if_a_value_is_invalid(
    ask: Ask, served: Served, words: tuple[str, ...], text: str
) -> None:
    join(served)
    code, _, err = ask("--force", *words)
    assert (code, text in err) == (1, True)
    assert served.state.groups[APP].members
    assert set(INTERNAL) <= served.state.topics.keys()


def test_topics_of_another_group_are_kept_unless_named(ask: Ask, served: Served) -> None:
    other = f"{APP}-eu-store-changelog"
    served.state.topic(other, [0], end=50)
    served.state.group(f"{APP}-eu", 0)
    code, out, err = ask()
    assert (code, f"[{', '.join(INTERNAL)}]" in out) == (1, True)
    assert f"its name also matches group '{APP}-eu', not only '{APP}'" in err
    assert other in served.state.topics
    assert ask("--internal-topics", other).code == 0
    assert other not in served.state.topics


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("orders,0,9\n", "has no offset of orders-1, a partition of an input topic"),
        ("orders,0,9\norders,1,9\nsmall,0,1\n", "has an offset of small-0, which is not a partition of an input topic"),
        ("orders,0\n", "2 columns"),
        ("", "the file contains no offsets"),
        (json.dumps({"schema": "kgroups/plan/v1", "cluster_id": "x", "items": [
            {"group": APP, "topic": "orders", "partition": 0, "offset": 9}]}), "is not CSV"),
    ],
)  # fmt: skip
def test_incomplete_files_are_rejected(ask: Ask, served: Served, tmp_path: Path, content: str, text: str) -> None:
    path = tmp_path / "plan"
    path.write_text(content)
    code, _, err = ask("--input-topics", "orders", "--from-file", str(path))
    assert (code, text in err) == (1, True), err
    assert committed(served) == {("orders", 0): 40, ("small", 0): 9}
    assert set(INTERNAL) <= served.state.topics.keys()


def test_connect_group_is_rejected(run_tool: Callable[..., Ran], served: Served) -> None:
    served.state.group("workers", 0, protocol_type="connect")
    code, out, err = run_tool(TOOL, "--bootstrap-server", served.bootstrap, "--application-id", "workers")
    assert (code, out) == (1, "")
    assert err == (
        "ERROR: java.util.concurrent.ExecutionException: java.lang.IllegalArgumentException: GroupId workers is not a "
        "consumer group (connect).\n"
    )


def test_default_server_is_local(run_tool: Callable[..., Ran], tmp_path: Path) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("bootstrap.servers=127.0.0.1:1\n")
    code, out, err = run_tool(TOOL, "--application-id", APP, "--config-file", str(settings), "--dry-run")
    assert (code, "localhost:9092" in err) == (1, True)
    assert out.startswith("Option --config-file has been deprecated")
