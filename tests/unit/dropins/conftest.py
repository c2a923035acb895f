"""Run Kafka's commands in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgroups.dropins.command import Tool
from tests.unit.conftest import Ran


@pytest.fixture
def run_tool(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command; it must not print a traceback."""

    def run(tool: Tool, *words: str) -> Ran:
        code = tool.main(words)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Ran(code, out, err)

    return run
