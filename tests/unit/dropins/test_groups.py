"""kafka-groups over fake brokers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kgroups.dropins.groups import OPTIONS, TOOL
from tests.fakes.broker import FakeCluster
from tests.unit.conftest import Ran

Run = Callable[..., Ran]


def zoo(fake: FakeCluster) -> None:
    fake.state.group("classic", 0)
    fake.state.group("simple", 0, protocol_type="")
    fake.state.group("connect", 1, protocol_type="connect")
    fake.state.group("kip848", 1, type="Consumer")
    fake.state.group("share", 0, type="Share", protocol_type="share")
    fake.state.group("streams", 1, type="Streams", protocol_type="streams")


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ("", "classic connect kip848 share simple streams"),
        ("--group-type CLASSIC", "classic connect simple"),
        ("--group-type classic --protocol connect", "connect"),
        ("--protocol consumer", "classic kip848"),
        ("--protocol= consumer", "simple"),
        ("--consumer", "classic kip848 simple"),
        ("--share", "share"),
        ("--streams", "streams"),
    ],
)
def test_list_filters_by_type_and_protocol(run_tool: Run, serve: Callable, filters: str, names: str) -> None:
    code, out, err = run_tool(TOOL, "--bootstrap-server", serve(fill=zoo).bootstrap, "--list", *filters.split())
    assert (code, err) == (0, "")
    header, *lines = out.splitlines()
    assert header.split() == ["GROUP", "TYPE", "PROTOCOL"]
    assert [line.split()[0] for line in lines] == names.split()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "Missing required option(s) [bootstrap-server]\n"),
        ("--help", "This tool helps to list groups of all types.\n"),
        ("--list", "Missing required option(s) [bootstrap-server]\n"),
        ("--bootstrap-server b", "Command must include exactly one action: --list.\n"),
        ("--bootstrap-server b --list --group-type x", "--group-type must be a valid group type.\n"),
        (
            "--bootstrap-server b --list --streams --share",
            'Option "[share]" can\'t be used with option "[streams]"\n',
        ),
        (
            "--bootstrap-server b --list --consumer --protocol x",
            'Option "[consumer]" can\'t be used with option "[protocol]"\n',
        ),
    ],
)
def test_invalid_command_lines_print_kafka_messages(run_tool: Run, words: str, message: str) -> None:
    code, out, err = run_tool(TOOL, *words.split())
    assert (code, out) == (1, "")
    assert err.startswith(message)
    assert err == message or err.endswith(TOOL.usage())


def test_version_prints_the_kafka_version(run_tool: Run) -> None:
    assert run_tool(TOOL, "--version") == (0, "4.4.0\n", "")


def test_usage_names_every_option_and_marks_required_ones() -> None:
    found = re.findall(r"(?m)^(\* )?--([a-z]\S+)", TOOL.usage())
    assert {(option.name, option.required) for option in OPTIONS} == {(name, bool(star)) for star, name in found}
