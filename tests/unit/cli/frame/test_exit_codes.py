"""The table of exit codes has those of the code, and the documentation has the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from kgroups.cli.frame.command import EXIT_CODES
from kgroups.cli.frame.exit_status import EXIT_CLOSED_PIPE
from kgroups.cli.frame.help_page import exit_codes
from kgroups.errors import KgroupsError
from kgroups.history.verify.result import EXIT_UNKNOWN
from kgroups.model.severity import Severity
from tests.documentation.pages import page_text
from tests.unit.cli.test_help import ALL


def errors(kind: type[KgroupsError]) -> Iterator[type[KgroupsError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from errors(each)


def codes(path: str) -> set[int]:
    found = exit_codes(click.Context(dict(ALL)[path], info_name=path))
    return {int(number) for code, _ in found for number in code.split(", ")}


def test_table_has_the_exit_codes_of_errors_and_signals() -> None:
    assert {each.exit_code for each in errors(KgroupsError)} == {1, 2}
    assert codes("kgroups list") == {0, 1, 2, 128 + 1, 128 + 2, 128 + 15, EXIT_CLOSED_PIPE}


def test_commands_with_other_exit_codes_have_them() -> None:
    assert {int(severity) for severity in Severity} <= codes("kgroups check")
    assert EXIT_UNKNOWN in codes("kgroups history test")


def test_documentation_has_the_same_codes() -> None:
    table = page_text("docs/output-formats.md").partition("## Exit codes")[2]
    assert re.findall(r"^\| (\d[\d, ]*) \|", table, re.MULTILINE) == [code for code, _ in EXIT_CODES]
