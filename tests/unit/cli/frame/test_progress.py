"""The progress line: shown on terminals only, and cleared afterwards."""

from __future__ import annotations

import asyncio
import io
import sys

import pytest

from kgroups.cli.frame import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stderr", "term", "quiet", "shown"),
    [
        (Terminal, "xterm-256color", False, "\rkgroups: connecting\x1b[K\r\x1b[K"),
        (Terminal, "xterm-256color", True, ""),
        (Terminal, "dumb", False, ""),
        (io.StringIO, "xterm-256color", False, ""),
    ],
    ids=["shown", "quiet", "dumb", "pipe"],
)
def test_progress_line_is_shown_on_terminals_only_and_cleared(
    stderr: type[io.StringIO], term: str, quiet: bool, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(sys, "stderr", written := stderr())

    async def work() -> None:
        async with progress.progress_line(quiet):
            for _ in range(10):
                await asyncio.sleep(0)

    asyncio.run(work())
    assert written.getvalue() == shown
