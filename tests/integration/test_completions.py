"""Completions in real shells, typed at in a real terminal (tmux)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kgroups.cli.completion
from tests.integration.known_cluster import KnownCluster
from tests.integration.versions import newest_only

SCRIPTS = Path(kgroups.cli.completion.__file__).parent

STARTS = {
    "bash": ("bash --norc", 'eval "$(kgroups completion bash)"'),
    "zsh": ("zsh -f", 'autoload -U compinit; compinit -u -D; eval "$(kgroups completion zsh)"'),
    "zsh by fpath": ("zsh -f", f"fpath=({SCRIPTS} $fpath); autoload -U compinit; compinit -u -D"),
    "fish": ("fish --no-config", "kgroups completion fish | source"),
}


# As the command, but that a busy machine may take its time; typing, nobody waits for more than a moment.
PROGRAM = f"""#!/bin/sh
exec {sys.executable} -c '
import kgroups.cli.frame.completion
from kgroups.__main__ import main
kgroups.cli.frame.completion.TIMEOUT = 60
main()
' "$@"
"""


class Shell:
    """A shell in a terminal of its own."""

    def __init__(self, name: str, environment: dict[str, str]) -> None:
        self._socket = f"kgroups-{os.getpid()}-{name.replace(' ', '-')}"
        command, setup = STARTS[name]
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "30", command, env=environment)
        self.type(f"{setup}; echo rea''dy\n")
        self.wait_for("ready")

    def _tmux(self, *words: str, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(["tmux", "-L", self._socket, *words], capture_output=True, text=True, env=env, timeout=90)
        return done.stdout

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def wait_for(self, text: str) -> None:
        until = time.monotonic() + 120
        while text not in self.screen:
            assert time.monotonic() < until, self.screen
            time.sleep(0.1)

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def shell(
    known_cluster: KnownCluster, tmp_path: Path, require_program: Callable[[str], None]
) -> Iterator[Callable[[str], Shell]]:
    opened: list[Shell] = []
    program = tmp_path / "kgroups"
    program.write_text(PROGRAM)
    program.chmod(0o755)

    def start(name: str) -> Shell:
        require_program("tmux")
        require_program(name.split()[0])
        path = f"{tmp_path}:{os.environ['PATH']}"
        settings = {"PATH": path, "KGROUPS_BOOTSTRAP_SERVER": known_cluster.sandbox.bootstrap, "TERM": "xterm-256color"}
        opened.append(Shell(name, {**os.environ, **settings}))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


@newest_only
@pytest.mark.parametrize("name", STARTS)
def test_completion_offers_groups_and_topics_in_real_shells(
    shell: Callable[[str], Shell], known_cluster: KnownCluster, name: str
) -> None:
    there = shell(name)
    there.type("kgroups reset-offsets --to-group orders-kip\t")
    there.wait_for("--to-group orders-kip848")
    there.type("\x15")  # away with the line
    there.type("kgroups descr\t")
    there.wait_for("kgroups describe")
    there.type("orders-stat\t")
    there.wait_for("describe orders-static")
    there.type(" --topic ledg\t")
    there.wait_for("--topic ledger")
    there.type(f"\x15kgroups lag -b {known_cluster.sandbox.bootstrap} orders-ran\t")
    there.wait_for(" orders-range")
    there.type("\x15kgroups lag --by=parti\t")
    there.wait_for("lag --by=partition")
    there.type("\x15kgroups list --columns group,coor\t")
    there.wait_for("group,coordinator")
    there.type("\x15kafka-consumer-groups --bootstrap-server $KGROUPS_BOOTSTRAP_SERVER --desc\t")
    there.wait_for("--describe")
    there.type(" --group orders-ran\t")
    there.wait_for("--group orders-range")
    there.type("\x15export KGROUPS_BOOTSTRAP_SERVER=localhost:1\n")
    there.type(f"kgroups --bootstrap-server {known_cluster.sandbox.bootstrap} describe orders-coop\t")
    there.wait_for("describe orders-cooperative")
    there.type("\x15kgroups describe -b localhost:1 orders-r\t")
    there.type("; echo do''ne\n")
    there.wait_for("\ndone")
    assert "Traceback" not in there.screen and "refused" not in there.screen.split("orders-r;")[0]
