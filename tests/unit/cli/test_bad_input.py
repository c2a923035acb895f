"""Invalid command lines: one line on stderr that names the mistake, and exit code 2."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import click
import pytest
from pytest_mock import MockerFixture

from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.errors import UsageError
from tests.unit.conftest import Ran

B = ("-b", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("list",), "--bootstrap-server"),
        (("list", "-b", " , "), "--bootstrap-server"),
        (("list", "-b", "host:0"), "'0'"),
        (("list", "-b", "host:65536"), "'65536'"),
        (("list", "-b", "::1:9092"), "brackets"),
        (("list", *B, "--state", "foo"), "'foo'"),
        (("list", *B, "--state", "stable,"), "''"),
        (("list", *B, "--type", "foo"), "Classic, Consumer, Share, Streams"),
        (("list", *B, "--timeout", "0"), "--timeout"),
        (("list", *B, "--timeout", "soon"), "'soon'"),
        (("list", *B, "--broker-timeout", "-1"), "--broker-timeout"),
        (("list", *B, "--transport", "carrier-pigeon"), "--transport"),
        (("list", *B, "-o", "yaml"), "'yaml'"),
        (("list", *B, "--columns", "lag"), "'lag'"),
        (("list", *B, "--sort", "-lag"), "'lag'"),
        (("list", *B, "--frobnicate"), "--frobnicate"),
        (("explain", *B, "g", "--what-if"), "requires an argument; see kgroups explain --help"),
        (("config", "show", "-X"), "requires an argument; see kgroups config show --help"),
        (("lits", *B), "'lits'"),
        (("describe", *B), "--all-groups"),
        (("describe", *B, ""), "must not be empty"),
        (("describe", *B, "--group", ""), "must not be empty"),
        (("describe", *B, "--regex", "a("), "'a('"),
        (("describe", *B, "--regex", "a{100000}"), "--regex"),
        (("describe", *B, "--regex", "(" * 5_000), "--regex"),
        (("describe", *B, "--regex", "(?=a)b"), "look-ahead"),
        (("describe", *B, "--regex", "(a)\\1"), "back-references"),
        (("describe", *B, "--regex", "\udcff"), "UTF-8"),
        (("history", "dump", *B, "--since", "9" * 16 + "d"), "--since"),
        (("describe", *B, "x" * 40_000), "40,000 bytes"),
        (("describe", *B, "\udcff"), "UTF-8"),
        (("describe", *B, "--all-groups", "--group", "g"), "--all-groups"),
        (("describe", *B, "g", "--members", "--state"), "--members and --state"),
        (("describe", *B, "g", "--offsets", "--members", "--state"), "--offsets and --members and --state"),
        (("describe", *B, "g", "--isolation", "dirty"), "--isolation"),
        (("lag", *B, "g", "--all-groups"), "--all-groups"),
        (("lag", *B, "--regex", "a("), "'a('"),
        (("lag", *B, "--by", "day"), "--by"),
        (("lag", *B, "--min", "-1"), "--min"),
        (("lag", *B, "--min", "many"), "'many'"),
        (("lag", *B, "--top", "0"), "--top"),
        (("lag", *B, "--isolation", "dirty"), "--isolation"),
        (("lag", *B, "--sort", "lag"), "total_lag"),
        (("lag", *B, "--columns", "group,TIME-LAG"), "--time"),
        (("lag", *B, "--sort", "-time_lag"), "--time"),
        (("lag", *B, "--time", "--transport", "librdkafka"), "--transport librdkafka"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(
    run_cli: Callable[..., object], arguments: tuple[str, ...], named: str
) -> None:
    code, out, err = run_cli(*arguments)  # type: ignore[misc]
    assert (code, out) == (2, "")
    assert named in err
    (error,) = (line for line in err.splitlines() if not line.startswith("kgroups: hint: "))
    assert error.startswith("kgroups")


def _numeric_options() -> Iterator[tuple[click.Command, click.Parameter]]:
    """Yield the options of all commands that take a number or a time."""
    left: list[click.Command] = [cli]
    while left:
        command = left.pop()
        command = command.load() if isinstance(command, LazyCommand) else command
        left += command.commands.values() if isinstance(command, click.Group) else ()
        of_text = (click.types.StringParamType, click.Path, click.Choice, click.types.BoolParamType)
        yield from ((command, param) for param in command.params if not isinstance(param.type, of_text))


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e999", "9" * 5_000, f"{'9' * 400}s", f"{'9' * 30}d"])
def test_every_option_rejects_numbers_that_are_not_finite(text: str) -> None:
    options = list(_numeric_options())
    assert len(options) > 100
    for command, param in options:
        if param.nargs == 1 and param.name not in ("conf", "py_files", "packages", "catalog_properties"):
            with pytest.raises((click.UsageError, UsageError)):
                param.type.convert(text, param, click.Context(command))


CHANGES = [
    ("reset-offsets", "g", "--all-topics", "--to-earliest"),
    ("reset-offsets", "g", "--all-topics", "--to-latest", "--export"),
    ("reset-offsets", "g", "--topic", "t", "--skip-records", "1"),
    ("delete", "g"),
    ("delete-offsets", "g", "--topic", "t"),
    ("remove-members", "g", "--all-members"),
    ("settings", "set", "g", "consumer.session.timeout.ms=50000"),
    ("settings", "unset", "g", "consumer.session.timeout.ms"),
]


@pytest.mark.parametrize(
    "arguments", [*CHANGES, *((*each, "--execute", "--yes") for each in CHANGES if "--export" not in each)]
)
def test_changes_over_librdkafka_are_refused_before_connecting(
    run_cli: Callable[..., Ran], arguments: tuple[str, ...], mocker: MockerFixture
) -> None:
    opened = mocker.patch(
        "kgroups.cli.frame.run_query.open_client", side_effect=AssertionError("a broker was contacted")
    )
    code, out, err = run_cli(*arguments, *B, "--transport", "librdkafka")
    assert (code, out) == (2, "")
    assert err == (
        "kgroups: error: --transport librdkafka: kgroups only reads over librdkafka; to change groups, use "
        "--transport wire\n"
    )
    assert not opened.called


def test_closed_port_is_one_line_error(run_cli: Callable[..., object]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # held but not listening: connections are refused
        code, out, err = run_cli("list", "-b", f"127.0.0.1:{held.getsockname()[1]}")  # type: ignore[misc]
    assert (code, out) == (1, "")
    assert "connection refused" in err
    assert err.count("\n") == 1


def test_unresolvable_host_is_named(run_cli: Callable[..., object]) -> None:
    code, _, err = run_cli("list", "-b", "no-such-host.invalid:9092", "--timeout", "5s")  # type: ignore[misc]
    assert code == 1
    assert "no-such-host.invalid:9092" in err
