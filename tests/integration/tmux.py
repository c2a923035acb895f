"""Commands in a terminal of tmux: real keys, and the screen as a user sees it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

_PATIENCE = 120.0
"""Seconds for whatever a busy machine may be late with."""


class Tmux:
    """A shell in a terminal of its own, with a server of its own. A context manager."""

    def __init__(self, width: int, height: int, *, shell: str | None = None, **environment: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="kgroups-tmux-"))  # short: the path of a socket is limited
        self._log = (self._folder / "log").open("w+")
        self._environment = {**os.environ, **environment}
        # In the foreground, so that its end can be waited for.
        self._server = subprocess.Popen(
            [*self._client, "-f", "/dev/null", "-D"],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        try:
            self._wait_for_the_server()
            self._run("new-session", "-d", "-x", str(width), "-y", str(height), shell or "env PS1=done: sh")
            if not shell:
                self.wait_for("done:")
        except BaseException:
            self._server.kill()
            self._clean_up()
            raise

    @property
    def _client(self) -> tuple[str, ...]:
        return ("tmux", "-S", str(self._folder / "socket"))

    def _wait_for_the_server(self) -> None:
        until = time.monotonic() + _PATIENCE
        while subprocess.run([*self._client, "list-sessions"], capture_output=True, check=False).returncode:
            ended = self._server.poll()
            assert ended is None, f"tmux ended with {ended}: {(self._folder / 'log').read_text()}"
            assert time.monotonic() < until, "tmux does not listen"
            time.sleep(0.02)

    def _clean_up(self) -> None:
        self._server.wait(_PATIENCE)
        self._log.close()
        shutil.rmtree(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._run("kill-server")
            assert self._server.wait(_PATIENCE) == 0, (self._folder / "log").read_text()
        finally:
            self._server.kill()
            self._clean_up()

    def _run(self, *words: str) -> str:
        # A new session has the PATH of the client, not of the server.
        done = subprocess.run(
            [*self._client, *words], capture_output=True, text=True, env=self._environment, timeout=90, check=False
        )
        # kill-server also ends the client, at times before that has its exit code
        lost = words == ("kill-server",) and "server exited" in done.stderr
        assert done.returncode == 0 or lost, f"tmux {shlex.join(words)}: {done.stderr or done.returncode}"
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

    def wait_for(self, *texts: str, without: str | None = None, seconds: float = _PATIENCE) -> str:
        """Wait until all texts are on the screen, and ``without`` is not; return the screen."""
        until = time.monotonic() + seconds
        while not all(text in (screen := self.screen) for text in texts) or (without is not None and without in screen):
            assert time.monotonic() < until, f"{texts} without {without!r}:\n{screen}"
            time.sleep(0.1)
        return screen
