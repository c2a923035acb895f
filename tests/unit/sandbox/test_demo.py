from __future__ import annotations

import shlex
from typing import Any

import pytest

from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.sandbox.demo import STEPS, Step, shown


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.command)
def test_demo_commands_are_valid(step: Step) -> None:
    words = shlex.split(step.command)
    command: Any = cli
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
        if isinstance(command, LazyCommand):
            command = command.load()
    with command.make_context("kgroups", words) as context:
        assert context.params


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.command)
def test_demo_commands_fit_100_columns_and_can_be_pasted(step: Step) -> None:
    assert max(map(len, (*f"# {step.why}".splitlines(), *shown(step.command).splitlines()))) <= 100
    typed = shown(step.command).replace("\\\n", "")
    assert shlex.split(typed)[1:] == ["kgroups", *shlex.split(step.command)]
