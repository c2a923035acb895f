"""kafka-consumer-groups over fake brokers: stdout, stderr, and the exit code."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode

from kgroups.dropins.consumer_groups import NO_EXECUTE, OPTIONS, TOOL
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.unit.conftest import Ran

Run = Callable[..., Ran]

NO_CLIENT = "Failed to create new KafkaAdminClient"
OFFSETS = ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"]
Serve = Callable[..., object]


@pytest.fixture
def ask(run_tool: Run, serve: Callable) -> Run:
    """Runs the command against a cluster with a few groups."""
    served = serve(fill=shop)
    return functools.partial(run_tool, TOOL, "--bootstrap-server", served.bootstrap)


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], start=5, end=100)
    member = FakeMember("m-1", {"orders": (0, 1)})
    fake.state.group("busy", 0, state="Stable", members=(member,), commits={("orders", 0): 90})
    fake.state.group("idle", 1, commits={("orders", 0): 3, ("orders", 1): 101})
    fake.state.group("moving", 1, state="PreparingRebalance")
    fake.state.group("connect", 0, state="Stable", protocol_type="connect", members=(FakeMember("w-1"),))
    fake.state.group("shared", 0, type="Share", protocol_type="share")


def test_list_shows_only_consumer_groups(ask: Run) -> None:
    assert ask("--list") == (0, "busy\nidle\nmoving\n", "")


def test_list_filters_by_state_and_type(ask: Run) -> None:
    code, out, err = ask("--list", "--state", "sTable, EMPTY", "--type")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["GROUP", "TYPE", "STATE"],
        ["busy", "Classic", "Stable"],
        ["idle", "Classic", "Empty"],
    ]
    assert ask("--list", "--type", "consumer").out.split() == ["GROUP", "TYPE"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--state", "foo"), "Invalid state list 'foo'. Valid states are: Stable, Empty, "),
        (("--state", "stable,,empty"), "Invalid state list 'stable,,empty'. "),
        (("--state", "NotReady"), "Invalid state list 'NotReady'. "),
        (("--type", "Share"), "Invalid types list 'Share'. Valid types are: Classic, Consumer\n"),
    ],
)
def test_list_invalid_filter_values_are_errors(ask: Run, words: tuple[str, ...], message: str) -> None:
    code, out, err = ask("--list", *words)
    assert (code, out) == (1, "")
    assert err.startswith(message)


@pytest.mark.parametrize("words", ["stable,", ",", ""])
def test_list_filter_allows_trailing_commas(ask: Run, words: str) -> None:
    assert ask("--list", "--state", words).code == 0


def test_describe_offsets_of_all_groups(ask: Run) -> None:
    code, out, err = ask("--describe", "--all-groups")
    assert code == 0
    assert [line.split() for line in out.split("\n")] == [
        [],
        OFFSETS,
        ["busy", "orders", "0", "90", "100", "10", "m-1", "/127.0.0.1", "client"],
        ["busy", "orders", "1", "-", "100", "-", "m-1", "/127.0.0.1", "client"],
        [],
        OFFSETS,
        ["idle", "orders", "0", "3", "100", "97", "-", "-", "-"],
        ["idle", "orders", "1", "101", "100", "-1", "-", "-", "-"],
        [],
    ]
    assert err == (
        "\nConsumer group 'idle' has no active members.\n\nWarning: Consumer group 'moving' is rebalancing.\n"
    )


def test_describe_missing_group_keeps_the_good_one(ask: Run) -> None:
    for view in ("--offsets", "--members", "--state"):
        code, out, err = ask("--describe", "--group", "busy", "--group", "nope", view, "--verbose")
        assert code == 1
        assert "busy" in out and "nope" not in err
        exception = "org.apache.kafka.common.errors.GroupIdNotFoundException: Group nope not found."
        assert out.endswith(f"\nError: Executing consumer group command failed due to {exception}\n")


@pytest.mark.parametrize("name", ["connect", "shared"])
def test_describe_group_of_another_type_is_refused(ask: Run, name: str) -> None:
    code, out, err = ask("--describe", "--group", name, "--state")
    assert (code, err) == (1, "")
    assert out.startswith("\nError: Executing consumer group command failed due to ")
    assert f"{name} is not a consumer group" in out


def test_describe_unauthorized_group_keeps_the_others(run_tool: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.state.fail("DescribeGroups", "busy", ErrorCode.group_authorization_failed)
    code, out, err = run_tool(TOOL, "--bootstrap-server", served.bootstrap, "--describe", "--all-groups", "--state")
    assert code == 1
    assert "idle" in out
    exception = "org.apache.kafka.common.errors.GroupAuthorizationException: Group authorization failed."
    assert f"\nError: Executing consumer group command failed due to {exception}\n" in out
    assert "Error: group 'busy': not authorized" in err


def test_unauthorized_coordinator_request_is_kafka_sentence(run_tool: Run, serve: Callable) -> None:
    served = serve(fill=shop)
    served.state.fail("FindCoordinator", "busy", ErrorCode.group_authorization_failed)
    ask = functools.partial(run_tool, TOOL, "--bootstrap-server", served.bootstrap)
    key = "CoordinatorKey(idValue='busy', type=GROUP)"
    text = f"FindCoordinator request for groupId `{key}` failed due to authorization failure"
    out = ask("--describe", "--group", "busy", "--state").out
    assert f"due to org.apache.kafka.common.errors.GroupAuthorizationException: {text}\n" in out
    out = ask("--delete", "--group", "busy").out
    assert f"could not be deleted due to: org.apache.kafka.common.errors.GroupAuthorizationException: {text}\n" in out
    out = ask("--delete-offsets", "--group", "busy", "--topic", "orders").out
    assert "\nError: Group authorization failed.\n" in out and "succeeded" not in out


@pytest.mark.parametrize("words", [(), ("--help",), ("--help", "--members"), ("--list", "--help")])
def test_help_goes_to_stderr_and_exits_1(run_tool: Run, words: tuple[str, ...]) -> None:
    code, out, err = run_tool(TOOL, *words)
    assert (code, out) == (1, "")
    assert err.startswith("This tool helps to list, describe, delete and manage the offsets of consumer groups.\n")
    assert err.endswith(TOOL.usage())


def test_usage_names_every_option() -> None:
    assert {option.name for option in OPTIONS} == set(re.findall("(?m)^--([a-z]\\S+)", TOOL.usage()))


def test_version_prints_the_kafka_version(run_tool: Run) -> None:
    assert run_tool(TOOL, "--version") == (0, "4.4.0\n", "")


def test_validate_regex_of_invalid_pattern_exits_0(run_tool: Run) -> None:
    output = run_tool(TOOL, "--validate-regex", "a(")
    assert output == (0, "The regular expression `a(` is invalid: missing closing ).\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--list", "--nonsense"), "nonsense is not a recognized option\n"),
        (("--list", "--timeout", "0"), "--timeout: 0 is not a number of milliseconds above zero\n"),
    ],
)
def test_invalid_command_line_prints_the_usage(ask: Run, words: tuple[str, ...], message: str) -> None:
    code, out, err = ask(*words)
    assert (code, out) == (1, "")
    assert err.startswith(message)
    assert err.endswith(TOOL.usage())


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("--list", "--timeout", "soon"), "Cannot parse argument 'soon' of option timeout"),
        (
            ("--list", "--timeout", "1", "--timeout", "2"),
            "Found multiple arguments for option timeout, but you asked for only one",
        ),
    ],
)
def test_invalid_argument_prints_kafka_sentence(ask: Run, words: tuple[str, ...], cause: str) -> None:
    assert ask(*words) == (1, f"\nError: Executing consumer group command failed due to {cause}\n", "")


def test_unreachable_cluster_is_kafka_sentence_and_the_reason(run_tool: Run) -> None:
    code, out, err = run_tool(TOOL, "--bootstrap-server", "127.0.0.1:1", "--list", "--timeout", "500")
    assert code == 1
    assert out.startswith("\nError: Executing consumer group command failed due to ") and out.count("\n") == 2
    assert err.startswith("Error: no bootstrap server responded: ") and err.count("\n") == 1


@pytest.mark.parametrize("server", ["", ",", "host:0", "::1:9092"])
def test_invalid_bootstrap_server_is_an_error(run_tool: Run, server: str) -> None:
    code, out, err = run_tool(TOOL, "--bootstrap-server", server, "--list")
    assert (code, out) == (1, "")
    assert "--bootstrap-server" in err


def test_command_config_reads_properties_and_notes_unknown_keys(ask: Run, tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text("client.id=me\nretries=3\nretires=3\n")
    code, out, err = ask("--list", "--command-config", str(path))
    assert (code, out) == (0, "busy\nidle\nmoving\n")
    assert err == f"kgroups: note: unknown and ignored: retires ({path}, line 3)\n"
    path.write_text("security.protocol=TLS\n")
    code, out, err = ask("--list", "--command-config", str(path))
    assert (code, out) == (1, f"\nError: Executing consumer group command failed due to {NO_CLIENT}\n")
    assert err.startswith(f"Error: {path}, line 1: security.protocol is 'TLS'; ")


def test_list_escapes_names_on_terminals_only(run_tool: Run, serve: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve(brokers=1)
    served.state.group("evil\x1b[2J", 0)
    words = ("--bootstrap-server", served.bootstrap, "--list")
    assert run_tool(TOOL, *words).out == "evil\x1b[2J\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run_tool(TOOL, *words).out == "evil\\x1b[2J\n"


def test_reset_without_execute_or_dry_run_warns(ask: Run) -> None:
    words = ("--reset-offsets", "--group", "idle", "--all-topics", "--to-latest")
    assert NO_EXECUTE in ask(*words).err
    assert NO_EXECUTE not in ask(*words, "--dry-run").err
