"""Completions in real shells, typed at in a real terminal (tmux)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import kgroups.cli.completion
from tests.integration.known_cluster import KnownCluster
from tests.integration.tmux import Tmux
from tests.integration.versions import newest_only

SCRIPTS = Path(kgroups.cli.completion.__file__).parent

STARTS = {
    "bash": ("bash --norc", 'eval "$(kgroups completion bash)"'),
    "zsh": ("zsh -f", 'autoload -U compinit; compinit -u -D; eval "$(kgroups completion zsh)"'),
    "zsh by fpath": ("zsh -f", f"fpath=({SCRIPTS} $fpath); autoload -U compinit; compinit -u -D"),
    "fish": ("fish --no-config", "kgroups completion fish | source"),
}


# As the command, but with more time, for a busy machine; a user would not wait that long.
PROGRAM = f"""#!/bin/sh
exec {sys.executable} -c '
import kgroups.cli.frame.completion
from kgroups.__main__ import main
kgroups.cli.frame.completion.TIMEOUT = 60
main()
' "$@"
"""


@pytest.fixture
def shell(
    known_cluster: KnownCluster, tmp_path: Path, require_program: Callable[[str], None]
) -> Iterator[Callable[[str], Tmux]]:
    program = tmp_path / "kgroups"
    program.write_text(PROGRAM)
    program.chmod(0o755)

    def start(name: str) -> Tmux:
        require_program("tmux")
        require_program(name.split()[0])
        path = f"{tmp_path}:{os.environ['PATH']}"
        settings = {"PATH": path, "KGROUPS_BOOTSTRAP_SERVER": known_cluster.sandbox.bootstrap, "TERM": "xterm-256color"}
        command, setup = STARTS[name]
        there = terminals.enter_context(Tmux(200, 30, shell=command, **settings))
        there.type(f"{setup}; echo rea''dy\n")
        there.wait_for("ready")
        return there

    with ExitStack() as terminals:
        yield start


@newest_only
@pytest.mark.parametrize("name", STARTS)
def test_completion_offers_groups_and_topics_in_real_shells(
    shell: Callable[[str], Tmux], known_cluster: KnownCluster, name: str
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
