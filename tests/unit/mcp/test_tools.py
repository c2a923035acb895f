"""What clients see of the tools, and the command lines that their arguments become."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.types import Tool as Shown

from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.mcp.bounds import Bounds
from kgroups.mcp.command_line import input_schema, words_of
from kgroups.mcp.run_tool import Runner
from kgroups.mcp.server import ToolServer
from kgroups.mcp.tools import GROUP_TOOLS, Tool, tools
from tests.documentation.pages import blocks_of, page_text
from tests.unit.mcp.conftest import ALL, connected

RUNNER = Runner(cli, connected())
EACH = pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)

FORBIDDEN = {
    *("execute", "yes", "force", "undo_file", "from_file", "when_empty", "export", "delete_internal_topic"),
    *("bootstrap_server", "command_config", "transport", "store", "engine", "remote", "conf", "untrusted", "max_rows"),
    *("rules", "junit", "github", "lint", "wait", "debug", "output", "x", "all_profiles", "timeout"),
}
"""Options that change something, read or write files, or choose another cluster."""


def shown() -> dict[str, Shown]:
    async def main() -> dict[str, Shown]:
        async with Client(ToolServer(RUNNER, ALL, Bounds(500, 200_000)).server) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    return asyncio.run(main())


def test_tools_are_shown_as_read_only() -> None:
    found = shown()
    assert set(found) == {tool.name for tool in ALL} and len(ALL) == 11
    for tool in found.values():
        hints = tool.annotations
        assert hints and (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint) == (True, False, True)
        assert hints.open_world_hint is (tool.name != "query_history")
        assert tool.title and tool.description and tool.output_schema
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)


@EACH
def test_every_argument_is_typed_described_and_bounded(tool: Tool) -> None:
    schema = input_schema(tool, RUNNER.command(tool), ())
    assert schema["additionalProperties"] is False
    for name, value in schema["properties"].items():
        assert value.get("description") or name in tool.choices, name
        each = value["items"] if value["type"] == "array" else value
        assert value["type"] != "array" or value["maxItems"]
        if each["type"] == "string":
            assert each.get("maxLength") or each.get("enum"), name
        elif each["type"] == "number":
            assert each["maximum"]
        else:
            assert each["type"] in ("integer", "boolean")


@EACH
def test_no_argument_changes_anything_or_selects_another_cluster(tool: Tool) -> None:
    names = {*tool.arguments, *tool.choices, *tool.files}
    assert names & FORBIDDEN == set()
    assert not any(word.startswith(("--execute", "--yes")) for word in tool.fixed)


def test_several_profiles_are_an_argument() -> None:
    for tool in ALL:
        schema = input_schema(tool, RUNNER.command(tool), ("eu", "us"))
        assert ("profile" in schema["properties"]) == tool.connects
        assert ("profile" in schema["required"]) == tool.one_cluster
        assert schema["properties"].get("profile", {}).get("enum") in (None, ["eu", "us"])


def test_records_are_shown_only_on_request() -> None:
    arguments = {tool.name: tool.arguments for tool in tools(records=False, store=None, rows=1, seconds=1)}
    assert "query_history" not in arguments
    assert not any("show_record" in each for each in arguments.values())
    assert [tool.name for tool in ALL if "show_record" in tool.arguments] == ["explain_partitions"]


@given(st.data())
def test_no_value_becomes_another_option(data: st.DataObject) -> None:
    """Whatever a client sends: the command gets the values, and nothing else."""
    tool = data.draw(st.sampled_from([tool for tool in GROUP_TOOLS if "top" in tool.arguments]))
    text = st.text(max_size=20) | st.sampled_from(["--execute", "-X", "--", "-b", "=", "--top=3", "a\n--execute"])
    given_arguments: dict[str, Any] = {
        "group": data.draw(st.lists(text, max_size=3)),
        "topic": data.draw(st.lists(text, max_size=3)),
        "regex": data.draw(text),
        "top": data.draw(st.integers(1, 9)),
        "only_lagging": data.draw(st.booleans()),
    }
    command = RUNNER.command(tool)
    parser = command.make_parser(click.Context(command))
    values, _, _ = parser.parse_args(words_of(tool, command, given_arguments, Path()))
    names = values.pop("names")
    assert list(names if isinstance(names, tuple) else ()) == given_arguments["group"]
    assert list(values.get("topics") or ()) == given_arguments["topic"]
    assert (values["regex"], values["top"]) == (given_arguments["regex"], str(given_arguments["top"]))
    assert bool(values.get("only_lagging")) == given_arguments["only_lagging"]
    assert set(values) <= {"topics", "regex", "top", "only_lagging"}


def test_file_is_written_and_passed(tmp_path: Path) -> None:
    (tool,) = (tool for tool in ALL if tool.name == "check_groups")
    words = words_of(tool, RUNNER.command(tool), {"rules_toml": "[rules]"}, tmp_path)
    assert words == ["--window=15s", f"--rules={tmp_path}/rules.toml", "--"]
    assert (tmp_path / "rules.toml").read_text() == "[rules]"


def test_descriptions_of_tools_are_short() -> None:
    assert len(json.dumps([tool.input_schema for tool in shown().values()])) < 30_000


def test_documentation_lists_every_tool_with_its_command() -> None:
    rows = re.findall(r"^\| `(\w+)` \| as `kgroups ([a-z-]+(?: (?:show|sql))?)", page_text("docs/mcp.md"), re.MULTILINE)
    assert rows == [(tool.name, " ".join(tool.command)) for tool in ALL]


def test_configuration_of_the_documentation_is_valid() -> None:
    (text,) = (block.text for block in blocks_of("docs/mcp.md") if block.language == "json")
    server = json.loads(text)["mcpServers"]["kgroups"]
    (longer,) = re.findall(r"`args` is `(\[.+?\])`", page_text("docs/mcp.md"))
    command = cli.commands["mcp"]
    assert server["command"] == "kgroups" and server["args"][0] == "mcp" and isinstance(command, LazyCommand)
    assert command.load().make_context("mcp", server["args"][1:])
    context = command.load().make_context("mcp", json.loads(longer)[1:])
    assert (context.params["profiles"], context.params["store"]) == (("prod",), "/var/lib/kgroups/history")
