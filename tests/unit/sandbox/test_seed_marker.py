from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox import Sandbox
from kgroups.sandbox.seed_marker import seed_once
from kgroups.sandbox.state import State

MADE: list[str] = []


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    MADE.clear()
    return Sandbox(tmp_path, State("a", "4.3.1", "java", "jars", None, "127.0.0.1:1", ()))


def make() -> None:
    MADE.append("once")


def test_seed_once_repeated_does_nothing(sandbox: Sandbox) -> None:
    assert seed_once(sandbox, "load", {"groups": 2}, make)
    assert not seed_once(sandbox, "load", {"groups": 2}, make)
    assert MADE == ["once"]


def test_seed_once_with_other_numbers_is_refused(sandbox: Sandbox) -> None:
    seed_once(sandbox, "load", {"groups": 2}, make)
    with pytest.raises(SandboxError, match=r"already has other load groups.*kgroups sandbox down --name a"):
        seed_once(sandbox, "load", {"groups": 3}, make)
    assert seed_once(sandbox, "known", [], make)


def test_seed_once_after_interruption_is_refused(sandbox: Sandbox) -> None:
    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        seed_once(sandbox, "load", {}, fail)
    with pytest.raises(SandboxError, match="was not completed; stop it"):
        seed_once(sandbox, "load", {}, make)
