"""kgroups in a terminal of tmux: real keys, and the screen as a user sees it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from typing import Self


class Tmux:
    """A shell in a terminal of its own. A context manager."""

    def __init__(self, width: int, height: int, **environment: str) -> None:
        self._socket = f"kgroups-{os.getpid()}-{width}x{height}"
        self._run(
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            str(width),
            "-y",
            str(height),
            "env PS1=done: sh",
            env=environment,
        )
        self.wait_for("done:")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._run("kill-server")

    def _run(self, *words: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *words],
            capture_output=True,
            text=True,
            env={**os.environ, **(env or {})},
            timeout=90,
        )
        return done.stdout

    def start(self, *words: str) -> None:
        """Run ``kgroups <words>``."""
        self.type(shlex.join((sys.executable, "-m", "kgroups", *words)) + "\n")

    def type(self, text: str) -> None:
        self._run("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys by their names in tmux, such as ``PPage``."""
        for key in keys:
            self._run("send-keys", key)

    @property
    def lines(self) -> list[str]:
        return self._run("capture-pane", "-p").splitlines()

    @property
    def screen(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, *texts: str, without: str | None = None, seconds: float = 120) -> str:
        """Wait until all texts are on the screen, and ``without`` is not; return the screen."""
        until = time.monotonic() + seconds
        while not all(text in (screen := self.screen) for text in texts) or (without is not None and without in screen):
            assert time.monotonic() < until, f"{texts} without {without!r}:\n{screen}"
            time.sleep(0.1)
        return screen
