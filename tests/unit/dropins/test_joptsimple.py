"""Command lines as joptsimple parses them; integration tests compare them with the original."""

from __future__ import annotations

import pytest

from kgroups.dropins.joptsimple import Option, OptionError, Takes, parse

OPTIONS = (
    Option("help", is_help=True),
    Option("list"),
    Option("describe"),
    Option("group", Takes.VALUE),
    Option("shift-by", Takes.VALUE),
    Option("state", Takes.MAYBE, only_with=("list", "describe")),
    Option("members", only_with=("describe",)),
    Option("verbose", only_with=("describe",)),
)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("--group a", ("a",)),
        ("--group=a", ("a",)),
        ("-group a", ("a",)),
        ("-group=a", ("a",)),
        ("--group= a", ("",)),
        ("--group a=b --group=c=d", ("a=b", "c=d")),
        ("--group --list", ("--list",)),  # a value that must be there may look like an option
        ("--group -- x", ("--",)),
        ("--group a stray --group b", ("a", "b")),
        ("stray", ()),
        ("- stray", ()),
    ],
)
def test_option_values_are_parsed_in_every_spelling(words: str, values: tuple[str, ...]) -> None:
    assert parse(OPTIONS, words.split()).all("group") == values


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("--list --state", None),
        ("--list --state=", ""),
        ("--list --state Stable", "Stable"),
        ("--list --state=Stable", "Stable"),
        ("--state --list", None),  # one that may be left out may not look like an option
        ("--state -list", None),
        ("--list --state --", None),
        ("--list --state -", "-"),
    ],
)
def test_optional_value_may_be_omitted(words: str, value: str | None) -> None:
    given = parse(OPTIONS, words.split())
    assert "state" in given
    assert given.one("state") == value


def test_empty_argument_is_a_value() -> None:
    assert parse(OPTIONS, ["--list", "--state", ""]).one("state") == ""
    assert parse(OPTIONS, ["--group", ""]).all("group") == ("",)


def test_value_of_a_flag_is_ignored() -> None:
    assert "list" in parse(OPTIONS, ["--list=never"])


def test_double_dash_ends_the_options() -> None:
    given = parse(OPTIONS, ["--list", "--", "--describe", "--nonsense"])
    assert "list" in given
    assert "describe" not in given


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--nonsense", "nonsense is not a recognized option"),
        ("--nonsense=1", "nonsense is not a recognized option"),
        ("--lis", "lis is not a recognized option"),  # abbreviations are off
        ("-l", "l is not a recognized option"),
        ("-nonsense", "n is not a recognized option"),
        ("--=x", " is not a recognized option"),
        ("--group", "Option group requires an argument"),
        ("--list --members", "Option(s) [members] are unavailable given other options on the command line"),
        ("--state", "Option(s) [state] are unavailable given other options on the command line"),
    ],
)
def test_invalid_command_lines_have_joptsimple_messages(words: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse(OPTIONS, words.split())
    assert str(caught.value) == message


def test_help_suppresses_other_errors() -> None:
    assert "help" in parse(OPTIONS, ["--members", "--help"])
    assert "help" in parse((*OPTIONS, Option("must", required=True)), ["--help"])


def test_missing_required_option_is_an_error() -> None:
    with pytest.raises(OptionError, match=r"^Missing required option\(s\) \[must\]$"):
        parse((*OPTIONS, Option("must", required=True)), ["--list"])


def test_repeated_single_value_option_is_an_error() -> None:
    given = parse(OPTIONS, ["--group", "a", "--group", "b"])
    with pytest.raises(OptionError, match="Found multiple arguments for option group, but you asked for only one"):
        given.one("group")


@pytest.mark.parametrize(("text", "number"), [("5", 5), ("-5", -5), ("+5", 5), ("-9223372036854775808", -(2**63))])
def test_number_values_are_parsed(text: str, number: int) -> None:
    assert parse(OPTIONS, ["--shift-by", text]).number("shift-by") == number


@pytest.mark.parametrize("text", ["", "x", "1_000", "1.5", " 1", "9223372036854775808", "9" * 5000])
def test_invalid_number_is_an_error(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse(OPTIONS, ["--shift-by", text]).number("shift-by")
    assert str(caught.value) == f"Cannot parse argument '{text}' of option shift-by"


def test_number_of_absent_option_is_none() -> None:
    assert parse(OPTIONS, []).number("shift-by") is None
