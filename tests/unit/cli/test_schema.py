"""``kgroups schema``, ``--help-json``, and the references of failures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from kgroups.cli.completion.answer import complete
from kgroups.cli.frame.exit_status import set_debug
from kgroups.cli.frame.help_page import sections
from kgroups.cli.frame.output import print_failures
from kgroups.cli.main import cli
from kgroups.errors import Reason
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.schemas import schema_names
from tests.documentation.pages import page_text
from tests.schemas import validate
from tests.unit.conftest import Ran

Run = Callable[..., Ran]


def test_list_of_schemas_is_complete(run_cli: Run) -> None:
    code, out, err = run_cli("schema", "-o", "json")
    assert (code, err) == (0, "")
    assert [item["name"] for item in json.loads(out)["items"]] == sorted(map(str, schema_names()))
    assert "kgroups/plan/v1" in run_cli("schema").out


@pytest.mark.parametrize("name", ["offsets", "offsets/v1", "kgroups/offsets/v1"])
def test_schema_is_printed(run_cli: Run, name: str) -> None:
    code, out, _ = run_cli("schema", name)
    assert (code, json.loads(out)["$id"]) == (0, "urn:kgroups:offsets:v1")
    item = json.loads(run_cli("schema", name, "--item").out)
    assert item["properties"]["lag"]["type"] == ["integer", "null"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ofsets",), "unknown schema 'ofsets'\nkgroups: hint: did you mean offsets"),
        (("kgroups/offsets/v7",), "unknown schema 'kgroups/offsets/v7'"),
        (("\x1b",), "unknown schema"),
        (("--item",), "--item requires NAME"),
        (("offsets", "-o", "csv"), "a schema is JSON"),
        (("rules", "--item"), "--item: kgroups/rules/v1 has no items"),
    ],
)
def test_invalid_name_is_a_usage_error(run_cli: Run, words: tuple[str, ...], message: str) -> None:
    code, out, err = run_cli("schema", *words)
    assert (code, out) == (2, "") and message in err
    assert "Traceback" not in err and "\x1b" not in err


def test_names_are_completed(capsys: pytest.CaptureFixture[str]) -> None:
    complete(cli, "kgroups schema lag-by-")
    assert {"lag-by-member", "lag-by-topic"} <= set(capsys.readouterr().out.split())


@pytest.mark.parametrize("words", [[], ["offsets"], ["rules"], ["explain"], ["history-lag"], ["history-test"]], ids=str)
def test_schema_loads_no_validator_and_no_client(words: list[str]) -> None:
    code = (
        f"import sys\nfrom kgroups.cli.main import main\nmain(['schema', *{words!r}])\n"
        "heavy = {'jsonschema', 'jsonschema_rs', 'asyncio', 'rich', 'pyarrow', 'pyspark', 'duckdb', 'numpy'}\n"
        "print(*(heavy & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr.strip()) == (0, "")


def commands(command: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield command
    for each in command["commands"]:
        yield from commands(each)


@pytest.fixture(scope="module")
def tree() -> Any:
    ran = subprocess.run([sys.executable, "-m", "kgroups", "--help-json"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    document = json.loads(ran.stdout)
    validate(document, document["schema"])
    return document["command"]


def test_help_as_json_has_every_command_and_option_of_the_help(tree: Any) -> None:
    import click

    from kgroups.cli.frame.lazy_command import LazyCommand

    def compare(command: click.Command, found: Mapping[str, Any], context: click.Context) -> None:
        shown = {name for _, records in sections(command, context) for name, _ in records}
        for option in found["options"]:
            assert option["deprecated"] or any(option["names"][-1] in each for each in shown), option
        assert len(shown) == sum(not option["deprecated"] for option in found["options"])
        inner = command.commands if isinstance(command, click.Group) else {}
        assert [each["name"].split()[-1] for each in found["commands"]] == sorted(inner)
        for each in found["commands"]:
            name = each["name"].split()[-1]
            entry = inner[name]
            loaded = entry.load() if isinstance(entry, LazyCommand) else entry
            compare(loaded, each, click.Context(loaded, context, name))

    compare(cli, tree, click.Context(cli, info_name="kgroups", help_option_names=["-h", "--help"]))
    assert len(list(commands(tree))) > 40


def test_option_has_type_default_choices_and_variable(tree: Any) -> None:
    found = {each["name"]: each for each in commands(tree)}
    options = {option["names"][-1]: option for option in found["kgroups lag"]["options"]}
    assert options["--by"]["choices"] == ["group", "topic", "partition", "member", "cluster"]
    assert (options["--by"]["default"], options["--by"]["section"]) == ("group", "View")
    assert options["--bootstrap-server"]["environment"] == "KGROUPS_BOOTSTRAP_SERVER"
    assert options["--timeout"]["type"] == "duration" and options["--color"]["off_names"] == ["--no-color"]
    assert options["--group"]["repeatable"] and not options["--wide"]["metavar"]
    assert [each["code"] for each in found["kgroups check"]["exit_codes"]][:4] == ["0", "1", "2", "3"]
    assert len(found["kgroups lag"]["examples"]) >= 2
    assert found["kgroups exporter"]["options"][2]["names"]


def test_help_of_one_command_as_json(run_cli: Run) -> None:
    for words in (("history", "show", "--help-json"), ("--help-json", "history", "show")):
        code, out, _ = run_cli(*words)
        assert (code, json.loads(out)["command"]["name"]) == (0, "kgroups history show")
    code, out, err = run_cli("histori", "--help-json")
    assert (code, out) == (2, "") and "did you mean history" in err
    code, out, err = run_cli("list", "no-such", "--help-json")
    assert (code, out) == (2, "")


def test_failure_has_a_reference_in_json_and_with_debug(run_cli: Run) -> None:
    words = ("list", "-b", "127.0.0.1:1", "--timeout", "2")
    (failure,) = json.loads(run_cli(*words, "-o", "json").out)["failures"]
    assert failure["reference"] == f"errors.md#{failure['reason']}" == "errors.md#connection_refused"
    assert "reference" not in run_cli(*words).err
    assert "kgroups: reference: errors.md#connection_refused\n" in run_cli(*words, "--debug").err


def test_failures_with_the_same_reason_have_one_reference(capsys: pytest.CaptureFixture[str]) -> None:
    failures = [Failure(Scope.BROKER, str(id), "no response", reason=Reason.NO_RESPONSE) for id in (1, 2)]
    reported = Failure(Scope.GROUP, "g", "the group does not exist", "GROUP_ID_NOT_FOUND", 69)
    for debug in (False, True):
        set_debug(debug)
        print_failures(Outcome((), (*failures, reported)))
    set_debug(False)
    assert capsys.readouterr().err.count("kgroups: reference: ") == 1


def test_documentation_lists_the_deprecated_options(tree: Any) -> None:
    table = page_text("docs/stability.md").partition("| deprecated | since |")[2].partition("\n\n")[0]
    options = {
        (command["name"], option["names"][-1], option["deprecated"])
        for command in commands(tree)
        for option in command["options"]
        if option["deprecated"]
    }
    found = re.findall(r"^\| .*`(--[\w-]+)` of `([\w -]+)` \| .* \| `(--[\w-]+)` \|$", table, re.MULTILINE)
    assert {(command, old, new) for old, command, new in found} == options
