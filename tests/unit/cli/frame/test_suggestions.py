"""Suggestions for commands and options that do not exist."""

from __future__ import annotations

import shlex

import pytest

from kgroups.cli.main import main


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("list --json", "kgroups list: error: No such option '--json'; use --output json; see kgroups list --help"),
        ("watch a* --json", "kgroups watch: error: No such option '--json'; use kgroups watch 'a*' | cat; see"),
        ("exporter --port 1", "kgroups exporter: error: No such option '--port'; use --listen :1; see"),
        ("-q groups", "kgroups: error: No such command 'groups'; use kgroups list; see kgroups --help"),
        ("list --by state", "kgroups list: error: Invalid value for '--by': 'state' is not one of"),
        ("wait 'a b' --state empty", "kgroups: error: No such command 'wait'; use kgroups check 'a b' --state empty"),
        ("delete a --host h", "kgroups delete: error: No such option '--host'; use kgroups list --host h; see"),
        ("list --port 1", "kgroups list: error: No such option '--port'; see"),
        ("list --staet x", "kgroups list: error: No such option '--staet' (did you mean --state?); see"),
        ("describe --regexp x", "kgroups describe: error: No such option '--regexp' (did you mean --regex?); see"),
        ("lag --frobnicate", "kgroups lag: error: No such option '--frobnicate'; see kgroups lag --help"),
        ("--list", "kgroups: error: No such option '--list'; use kgroups list; see kgroups --help"),
        ("groups", "kgroups: error: No such command 'groups'; use kgroups list; see kgroups --help"),
        ("help", "kgroups: error: No such command 'help'; use kgroups --help; see"),
        ("reset", "kgroups: error: No such command 'reset'; use kgroups reset-offsets; see"),
        ("remove", "kgroups: error: No such command 'remove' (did you mean remove-members?); see"),
        ("lst", "kgroups: error: No such command 'lst' (did you mean list?); see kgroups --help"),
        ("lgg", "kgroups: error: No such command 'lgg' (did you mean lag?); see kgroups --help"),
        ("frobnicate", "kgroups: error: No such command 'frobnicate'; see kgroups --help"),
        ("sandbox groups", "kgroups sandbox: error: No such command 'groups'; see kgroups sandbox --help"),
        (
            "sandbox down --name",
            "kgroups sandbox down: error: Option '--name' requires an argument; see kgroups sandbox",
        ),
        (
            "history show --store",
            "kgroups history show: error: Option '--store' requires an argument; see kgroups hist",
        ),
    ],
)
def test_error_suggests_what_to_type(line: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split(line)) == 2
    error = capfd.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1


def test_rejected_value_is_answered_by_what_to_type(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "-b", "localhost:1", "--output=yaml"]) == 2
    assert capfd.readouterr().err.splitlines()[1:] == ["kgroups: hint: use --output json"]
    assert main(["list", "-b", "localhost:1", "--state", "emty"]) == 2
    assert "hint" not in capfd.readouterr().err


def test_without_arguments_one_screen_says_what_to_type(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) < 24
    for text in ("kgroups list -b HOST:PORT", "kgroups sandbox up", "kgroups --help"):
        assert text in err
