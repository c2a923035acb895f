from __future__ import annotations

from datetime import timedelta

import click
import pytest
from click.testing import CliRunner

from kgroups.cli.main import cli
from kgroups.errors import UsageError
from kgroups.history.commands.show import command as show
from kgroups.history.rules import NAMES, Rules, parse_rules


def test_rules_have_defaults() -> None:
    assert parse_rules(()) == Rules()


def test_rules_are_parsed_by_name() -> None:
    found = parse_rules(("stale-after=2h", "samples = 20", "retention=90m", "stale-after=3h"))
    assert found == Rules(stale_after=timedelta(hours=3), samples=20, retention=timedelta(minutes=90))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stale_aftr=2h", "unknown rule 'stale_aftr'; did you mean stale-after?"),
        ("x=2h", "unknown rule 'x'; use one of bucket, samples, stale-after, retention"),
        ("samples", "'' is not a number above 0"),
        ("samples=0", "'0' is not a number above 0"),
        ("samples=-1", "'-1' is not a number above 0"),
        ("samples=9999999999", "'9999999999' is not a number above 0"),
        ("retention=0", "'0' is not a duration"),
        ("retention=soon", "'soon' is not a duration such as 90s, 15m, 2h, 7d"),
        ("retention=99999999999999d", "is not a duration"),
    ],
)
def test_invalid_rule_is_a_usage_error(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_rules((text,))


@pytest.mark.parametrize("command", [("show", "expiring"), ("stale",), ("sql", "select 1"), ("report",)])
def test_invalid_rule_is_rejected_before_the_store_is_read(command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, ["history", *command, "--store", "/nowhere", "--rule", "samples=0"])
    assert isinstance(done.exception, UsageError)


def test_help_names_every_rule() -> None:
    (option,) = (each for each in show.params if each.name == "rules")
    assert isinstance(option, click.Option) and option.help
    assert all(name in option.help for name in NAMES)
