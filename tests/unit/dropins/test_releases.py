"""The drop-ins follow the tools of a release; integration tests compare both with Java."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kgroups.dropins import consumer_groups, groups, share_groups, streams_groups
from kgroups.dropins.command import Tool
from kgroups.dropins.releases import RELEASES, VARIABLE
from tests.fakes.streams_shop import IDLE, RUNNING, open_shop
from tests.unit.conftest import Ran

TOOLS = [each.TOOL for each in (consumer_groups, groups, share_groups, streams_groups)]
Run = Callable[..., Ran]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", RELEASES)
def test_version_and_usage_are_of_the_release(
    run_tool: Run, monkeypatch: pytest.MonkeyPatch, tool: Tool, name: str
) -> None:
    monkeypatch.setenv(VARIABLE, name)
    assert run_tool(tool, "--version") == (0, f"{RELEASES[name].version}\n", "")
    assert run_tool(tool, "--help").err.endswith(f"\n{tool.usage(RELEASES[name])}")


@pytest.mark.parametrize("tool", TOOLS)
def test_newest_release_is_the_default(run_tool: Run, monkeypatch: pytest.MonkeyPatch, tool: Tool) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert run_tool(tool, "--version").out == "4.4.0\n"


@pytest.mark.parametrize("value", ["4.3.1", "5", "4.3\x1b[2J"])
def test_unknown_release_is_one_line(run_tool: Run, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(VARIABLE, value)
    code, out, err = run_tool(groups.TOOL, "--bootstrap-server", "127.0.0.1:1", "--list")
    assert (code, out) == (1, "")
    assert re.fullmatch(r"Error: KGROUPS_TOOLS_VERSION: .* is not one of 4\.3, 4\.4\n", err)
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("tool", "option"),
    [
        *((share_groups.TOOL, option) for option in ("export", "from-file", "to-current", "to-offset")),
        (streams_groups.TOOL, "topology"),
    ],
)
def test_older_release_lacks_options(run_tool: Run, monkeypatch: pytest.MonkeyPatch, tool: Tool, option: str) -> None:
    words = ("--bootstrap-server", "b", f"--{option}")
    assert "is not a recognized option" not in run_tool(tool, *words).err
    monkeypatch.setenv(VARIABLE, "4.3")
    assert run_tool(tool, *words).err.startswith(f"{option} is not a recognized option\n")


def test_share_reset_messages_differ_between_releases(run_tool: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--bootstrap-server", "b", "--reset-offsets", "--group", "g", "--dry-run")
    assert "[all-topics], [from-file], [topic]\n" in run_tool(share_groups.TOOL, *words).err
    both = ("--all-topics", "--topic", "t")
    assert "can't be used with option" in run_tool(share_groups.TOOL, *words, *both).err
    monkeypatch.setenv(VARIABLE, "4.3")
    assert "[all-topics], [topic]\n" in run_tool(share_groups.TOOL, *words).err
    assert "[to-datetime], [to-earliest], [to-latest]\n" in run_tool(share_groups.TOOL, *words, *both).err


def test_streams_state_has_assignor_in_newest_release(
    run_tool: Run, serve: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(fill=open_shop, versions="4.4.0")
    words = ("--bootstrap-server", served.bootstrap, "--describe", "--group", RUNNING, "--state")
    header, row = run_tool(streams_groups.TOOL, *words).out.splitlines()
    assert row.index("sticky") == header.index("ASSIGNOR")
    monkeypatch.setenv(VARIABLE, "4.3")
    assert "ASSIGNOR" not in run_tool(streams_groups.TOOL, *words).out


def test_streams_topology_shows_nodes_or_why_there_are_none(run_tool: Run, serve: Callable) -> None:
    words = ("--describe", "--group", IDLE, "--topology")
    served = serve(fill=open_shop, versions="4.4.0")
    code, out, err = run_tool(streams_groups.TOOL, "--bootstrap-server", served.bootstrap, *words)
    assert (code, err) == (0, "")
    assert out == (
        "Topologies:\n"
        "   Sub-topology: 0\n    Source: in-0 (topics: [orders, small])\n      --> none\n\n"
        "   Sub-topology: 1\n    Source: in-1 (topics: [])\n      --> none\n\n\n"
    )
    older = serve(fill=open_shop, versions="4.3.1")
    assert run_tool(streams_groups.TOOL, "--bootstrap-server", older.bootstrap, *words) == (
        1,
        f"\nError: No topology description is available for streams group '{IDLE}' (status: NOT_REQUESTED).\n",
        "",
    )
