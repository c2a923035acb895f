"""``make demo``: real brokers, real groups, an incident, and the commands that a newcomer would type.

History is collected while it runs, so that the report at the end shows the incident. It stops all that it has started,
also on Ctrl-C, on SIGTERM, and after a failure.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple, NoReturn
from urllib.parse import quote

from kgroups.errors import KgroupsError

from .cluster import Sandbox
from .folders import state_root
from .traffic import GROUP, TOPIC, traffic

_NAME: Final = "demo"
_BROKERS: Final = 3
_WIDTH: Final = 98
HISTORY: Final = str(state_root().parent / "demo-history")
"""The history store of the demo; created again each time, and kept afterwards. Only the demo uses this folder."""
REPORT: Final = f"{HISTORY}/report.html"
_COLLECT: Final = f"history collect --store {HISTORY} --interval 2s --sample-every 1s"
_INCIDENT: Final = 8.0
"""Seconds for which a member is at least away, and for which the group then catches up; other steps run meanwhile."""


@dataclass
class Scene:
    """What runs during the demo; ``away`` is set while a member of the group with traffic is away."""

    sandbox: Sandbox
    away: Event
    collector: subprocess.Popen[bytes]
    since: float = 0.0
    """When that member left, or came back."""


class Step(NamedTuple):
    """A command, and its explanation; ``first`` is called before."""

    why: str
    command: str
    first: Callable[[Scene], None] = lambda scene: None


def _leave(scene: Scene) -> None:
    Path(f"{HISTORY}-undo.json").unlink(missing_ok=True)
    scene.away.set()
    scene.since = time.monotonic()


def _return(scene: Scene) -> None:
    scene.away.clear()
    scene.since = time.monotonic()


def _wait(scene: Scene) -> None:
    time.sleep(max(0.0, scene.since + _INCIDENT - time.monotonic()))


def _stop_collecting(scene: Scene) -> None:
    scene.collector.terminate()
    scene.collector.wait()


SEED: Final = Step(
    "More groups, in every state. Their members keep running in the background.", f"sandbox seed --name {_NAME}"
)
STEPS: Final = (
    Step("All groups, of every type, with their states:", "list --state --type"),
    Step(
        f"The groups with the most lag, in records and in time. {GROUP} has little: it reads all the time.",
        "lag --top 5 --time --columns group,state,members,total_lag,max_lag,time_lag",
    ),
    Step(
        "Read records again: a reset is a plan until --execute, and a group with members is rejected.",
        "reset-offsets payments-empty orders-range --all-topics --shift-by -20",
        _leave,
    ),
    Step(
        "This one is executed. The old offsets are saved in a file, which undoes it.",
        f"reset-offsets payments-empty --all-topics --shift-by -20 --execute --yes --undo-file {HISTORY}-undo.json",
    ),
    Step(
        f"An incident: one of the two members of {GROUP} has left. The other one has all partitions now.",
        f"describe {GROUP} --members -v --columns client_id,host,partitions,current_assignment",
        _wait,
    ),
    Step(
        "It is too slow for all of them:",
        f"describe {GROUP} --columns topic,partition,current_offset,log_end_offset,lag,client_id",
    ),
    Step(
        "A check for CI and monitoring, with the exit codes of Nagios plugins: 2 is CRITICAL.",
        f"check {GROUP} --state stable --max-lag 50",
    ),
    Step(
        "The member comes back. Meanwhile: why another group is behind, a verdict for a partition.",
        "explain payments-empty --partition payments:2",
        _return,
    ),
    Step("For scripts: JSON, or one JSON object per line.", "describe payments-empty -o jsonl --columns partition,lag"),
    Step(
        f"{GROUP} after {_INCIDENT:.0f} s with both members:",
        f"lag {GROUP} --time --columns group,state,members,total_lag,max_lag,time_lag",
        _wait,
    ),
    Step(
        f"What has happened is in the history that was collected: the rebalances of {GROUP}.",
        f"history rebalances --store {HISTORY} --group {GROUP} --columns group,log_time,generation,members,pause_ms",
        _stop_collecting,
    ),
    Step(
        "And all of it as one HTML page, which works offline:",
        f"history report --store {HISTORY} --file {REPORT} --rule bucket=2s --force",
    ),
)


def main() -> int:
    signal.signal(signal.SIGTERM, _ended)
    signal.signal(signal.SIGHUP, _ended)
    began = time.monotonic()
    try:
        _say("Three real Kafka brokers on this machine (their jars are fetched the first time):")
        _show(f"sandbox up --brokers {_BROKERS} --name {_NAME}")
        with _stopped_at_the_end(Sandbox.up(brokers=_BROKERS, name=_NAME, progress=_note)) as sandbox:
            _say("The bootstrap servers, so that the commands do not have to name them:")
            print(f"$ export KGROUPS_BOOTSTRAP_SERVER={sandbox.bootstrap}", flush=True)
            _say(f"Two members of the group {GROUP} read the topic {TOPIC}, and history is collected meanwhile:")
            _show(f"{_COLLECT} &")
            with traffic(sandbox.bootstrap) as away, _collecting(sandbox.bootstrap) as collector:
                _run(SEED, sandbox.bootstrap)
                scene = Scene(sandbox, away, collector)
                for step in STEPS:
                    step.first(scene)
                    _run(step, sandbox.bootstrap)
    except KgroupsError as error:
        print(f"demo: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    _say(f"Done in {time.monotonic() - began:.0f} s. The report of the incident, for a browser:")
    print(f"file://{quote(REPORT)}", flush=True)
    _say("Three commands to try next:")
    for why, command in NEXT:
        print(f"{why}:\n  $ {command}", flush=True)
    return 0


_KGROUPS: Final = os.path.relpath(Path(sys.executable).with_name("kgroups"))
NEXT: Final = (
    ("Start the same brokers and groups, to stay", f'make sandbox; eval "$({_KGROUPS} sandbox env)"'),
    ("Watch all groups on a live screen; ? shows the keys", f"{_KGROUPS} watch"),
    ("Explain why a group does not make progress", f"{_KGROUPS} explain payments-lagging"),
)


def _run(step: Step, bootstrap: str) -> None:
    _say(step.why)
    _show(step.command)
    done = subprocess.run(_command(step.command), env=_environment(bootstrap), check=False)
    if done.returncode:
        print(f"[exit code {done.returncode}]", flush=True)


def _command(words: str) -> list[str]:
    return [sys.executable, "-m", "kgroups", *shlex.split(words)]


def _environment(bootstrap: str) -> dict[str, str]:
    return {**os.environ, "KGROUPS_BOOTSTRAP_SERVER": bootstrap}


@contextmanager
def _collecting(bootstrap: str) -> Iterator[subprocess.Popen[bytes]]:
    shutil.rmtree(HISTORY, ignore_errors=True)
    log = Path(f"{HISTORY}.log")  # its notes would be in the middle of the output of the steps
    with (
        log.open("wb") as messages,
        subprocess.Popen(_command(_COLLECT), env=_environment(bootstrap), stdout=messages, stderr=messages) as process,
    ):
        try:
            yield process
        finally:
            if process.poll():
                print(f"demo: history was not collected:\n{log.read_text(encoding='utf-8')}", file=sys.stderr)
            process.terminate()


@contextmanager
def _stopped_at_the_end(sandbox: Sandbox) -> Iterator[Sandbox]:
    try:
        yield sandbox
    finally:
        # A second Ctrl-C must not leave brokers running.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _say("Stop the brokers and the members, and delete their data:")
        _show(f"sandbox down --name {sandbox.name}")
        sandbox.down()


def _ended(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def _say(text: str) -> None:
    print(f"\n# {text}", flush=True)


def _show(command: str) -> None:
    print(shown(command), flush=True)


def shown(command: str) -> str:
    """Return the command as at a prompt, wrapped if it is long."""
    lines = textwrap.wrap(f"$ kgroups {command}", _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return " \\\n".join(lines)


def _note(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
