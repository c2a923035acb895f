"""The completion scripts in real shells; ``tests/integration/test_completions.py`` types at them in a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BASH = """
eval "$(kgroups completion bash)"
COMP_LINE=$1 COMP_POINT=${#1}
_kgroups_completion "${1%% *}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def run(tmp_path: Path, require_program: Callable[[str], str]) -> Callable[..., list[str]]:
    """Run a shell with a kgroups of its own, and return its lines."""
    program = tmp_path / "bin/kgroups"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kgroups "$@"\n')
    program.chmod(0o755)
    (tmp_path / "rules.toml").touch()

    def run(shell: str, *words: str) -> list[str]:
        path = f"{program.parent}:{os.environ['PATH']}"
        done = subprocess.run(
            [require_program(shell), *words],
            env={**os.environ, "PATH": path, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return run


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kgroups lag --by par", ["partition"]),
        ("kgroups lag --by=par", ["partition"]),
        ("kgroups lag -b localhost:9092 --by par", ["partition"]),
        ("kgroups list --columns group,coo", ["group,coordinator"]),
        ("kgroups list --command-config ru", ["rules.toml"]),
        ("kafka-consumer-groups --list --st", ["--state"]),
    ],
)
def test_bash_completes(run: Callable[..., list[str]], line: str, expected: list[str]) -> None:
    assert run("bash", "--norc", "-c", BASH, "bash", line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kgroups lag --by=par", ["--by=partition"]),
        ("kgroups descr", ["describe\tDescribe groups: offsets and lag, members,..."]),
        ("kgroups list --columns group,coo", ["group,coordinator\tCOORDINATOR (ID)"]),
        ("kgroups list --command-config ru", ["rules.toml"]),
        ("kafka-consumer-groups --list --st", ["--state"]),
    ],
)
def test_fish_completes_with_descriptions(run: Callable[..., list[str]], line: str, expected: list[str]) -> None:
    script = "kgroups completion fish | source; complete --do-complete=$argv[1]"
    assert run("fish", "--no-config", "-c", script, line) == expected


def test_scripts_are_what_a_wheel_installs() -> None:
    root = Path(__file__).parents[4]
    for stub in (root / "completions/bash").iterdir():
        assert stub.read_text() == '. "${BASH_SOURCE[0]%/*}/kgroups"\n'
    for stub in (root / "completions/fish").iterdir():
        assert stub.read_text() == "source (dirname (status filename))/kgroups.fish\n"
