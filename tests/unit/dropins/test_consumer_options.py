"""Option conflicts of kafka-consumer-groups; the messages are Java's, as integration tests verify."""

from __future__ import annotations

import pytest

from kgroups.dropins.consumer_groups import ACTIONS, OPTIONS, SCENARIOS, check
from kgroups.dropins.joptsimple import OptionError, parse

SCOPE = "--reset-offsets --group g --all-topics"
ALL_SCENARIOS = ", ".join(f"[{name}]" for name in SCENARIOS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--describe", "Option [describe] takes one of these options: [group], [all-groups]"),
        (
            "--describe --group g --members --state",
            "Option [describe] takes at most one of these options: [members], [offsets], [state]",
        ),
        ("--describe --group g --state Stable", "Option [describe] does not take a value for [state]"),
        ("--delete", "Option [delete] takes one of these options: [group], [all-groups]"),
        (
            "--delete --group g --topic t",
            "The consumer does not support topic-specific offset deletion from a consumer group.",
        ),
        ("--delete-offsets --group g", "Option [delete-offsets] takes the following options: [group], [topic]"),
        ("--delete-offsets --topic t", "Option [delete-offsets] takes the following options: [group], [topic]"),
        (
            f"{SCOPE} --to-latest --dry-run --execute",
            "Option [reset-offsets] only accepts one of [execute] and [dry-run]",
        ),
        ("--reset-offsets --to-latest", "Option [reset-offsets] takes one of these options: [group], [all-groups]"),
        (f"{SCOPE} --to-latest --to-earliest", 'Option "[to-earliest]" can\'t be used with option "[to-latest]"'),
        (f"{SCOPE} --shift-by 1 --to-offset 1", 'Option "[to-offset]" can\'t be used with option "[shift-by]"'),
        (f"{SCOPE}", f"Option '[reset-offsets]' requires one of the following scenarios: [{ALL_SCENARIOS}]"),
        (
            "--reset-offsets --group g --to-latest",
            "One of the reset scopes should be defined: --all-topics, --topic.",
        ),
        ("--describe --group g --all-groups", 'Option "[group]" can\'t be used with option "[all-groups]"'),
        ("--list --group g", 'Option "[group]" can\'t be used with option "[list]"'),
        ("--list --topic t", 'Option "[topic]" can\'t be used with option "[list]"'),
        ("--describe --group g --topic t", 'Option "[topic]" can\'t be used with option "[describe]"'),
        (
            "--timeout 1",
            "Command must include exactly one action: --list, --describe, --delete, --reset-offsets, "
            "--delete-offsets, --validate-regex",
        ),
    ],
)
def test_option_conflicts_have_kafka_messages(words: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        check(parse(OPTIONS, ["--bootstrap-server", "b", *words.split()]))
    assert str(caught.value) == message


@pytest.mark.parametrize("action", [f"--{name}" for name in ACTIONS if name != "validate-regex"])
def test_every_action_but_validate_regex_needs_bootstrap_server(action: str) -> None:
    with pytest.raises(OptionError, match=r'^Missing required argument "\[bootstrap-server\]"$'):
        check(parse(OPTIONS, [action, "--group", "g"]))
    check(parse(OPTIONS, ["--validate-regex", "a*"]))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_scenario_is_sufficient_for_reset(scenario: str) -> None:
    check(parse(OPTIONS, ["--bootstrap-server", "b", *SCOPE.split(), f"--{scenario}", "1"]))


def test_from_file_needs_no_topic_scope() -> None:
    words = ["--bootstrap-server", "b", "--reset-offsets", "--group", "g", "--from-file", "plan.csv"]
    check(parse(OPTIONS, words))


def test_several_actions_are_an_error() -> None:
    with pytest.raises(OptionError, match="exactly one action"):
        check(parse(OPTIONS, ["--bootstrap-server", "b", "--list", "--validate-regex", "x"]))
