"""``make demo``: real brokers, real groups, and the commands that a newcomer would type, each with a word on why.

What it starts it stops, also on Ctrl-C, on SIGTERM, and when something fails.
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
from typing import Final, NamedTuple, NoReturn

from kgroups.errors import KgroupsError
from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.folders import state_root
from kgroups.sandbox.topics import fill

_NAME: Final = "demo"
_BROKERS: Final = 3
_WIDTH: Final = 98
_LAGS: Final = "--columns group,partition,current_offset,log_end_offset,lag,client_id"


class Step(NamedTuple):
    """A command, and what it is for; ``first`` happens before."""

    why: str
    command: str
    first: Callable[[Sandbox], None] = lambda sandbox: None


def _more_payments(sandbox: Sandbox) -> None:
    fill(sandbox.bootstrap, {"payments": {0: 20, 1: 20, 2: 20}})


HISTORY: Final = str(state_root().parent / "demo-history")
"""The store that the demo collects into; made anew each time, and left for a look. Nobody else can have made it."""


def _no_history(sandbox: Sandbox) -> None:
    shutil.rmtree(HISTORY, ignore_errors=True)


STEPS: Final = (
    Step(
        "Make some groups, in every state. From now on their members live in the background.",
        f"sandbox seed --name {_NAME}",
    ),
    Step("And share groups (KIP-932), with Java's own share consumers:", f"sandbox seed --name {_NAME} --kind share"),
    Step("Which groups are there, of which kind, and what are they doing?", "list --state --type"),
    Step("Only those without members:", "list --state empty"),
    Step(
        "How far has a group read? LAG is what is written and not read yet: 50 records, on partition 5.\n"
        "# (--columns picks what fits here; without it, consumer ids and hosts are shown too.)",
        f"describe orders-range {_LAGS}",
    ),
    Step(
        "Who is in it, and who holds which partitions?",
        "describe orders-range --members -v --columns client_id,host,current_assignment,subscription",
    ),
    Step(
        "The same of a group of the new protocol (KIP-848), where brokers assign, and count epochs:",
        "describe orders-kip848 --members -v"
        " --columns client_id,current_epoch,current_assignment,target_epoch,target_assignment",
    ),
    Step(
        "Share groups stand in the same table. They commit nothing: each partition has a start.",
        "describe parcels-audit parcels-workers --columns group,topic,partition,start_offset,log_end_offset,lag",
    ),
    Step(
        "Why is a group as it is? And what would one more member change?",
        "explain orders-range --what-if members=+1",
    ),
    Step("Which broker coordinates a group, and how does it assign?", "describe orders-static --state"),
    Step("All groups whose name matches:", f"describe --regex 'payments-.*' {_LAGS}"),
    Step(
        "60 more records were written just now; this group reads no further, and its lag has grown:",
        f"describe payments-lagging {_LAGS}",
        _more_payments,
    ),
    Step(
        "Who reads a topic? Oddities are noted: a commit beyond the end, a commit on records that are gone.",
        "describe --topic clicks --columns group,lag,note",
    ),
    Step(
        "Who is furthest behind, in records and in time (the age of the first record that is not read)?",
        "lag --top 4 --time --columns group,state,total_lag,max_lag,behind,time_lag",
    ),
    Step(
        "A transaction is open on the topic ledger: its 5 records count as lag ...",
        f"describe ledger-reader {_LAGS}",
    ),
    Step(
        "... unless you ask as a consumer would that reads only what is committed:",
        f"describe ledger-reader --isolation read_committed {_LAGS}",
    ),
    Step(
        "For CI and monitoring: is all well? It says what is not, and exits as plugins of Nagios do.",
        "check orders-range payments-lagging --state stable --max-lag 60",
    ),
    Step("For scripts: JSON, or one JSON object a line.", "describe payments-empty -o jsonl --columns partition,lag"),
    Step(
        "A group that does not exist hides no other: what is there is shown, the exit code tells the rest.",
        "describe payments-empty no-such --state",
    ),
    Step(
        "Read something again? A plan first; nothing happens without --execute; active groups are refused.",
        "reset-offsets payments-empty orders-range --all-topics --shift-by -20",
    ),
    Step(
        "And before? What these groups did stands in __consumer_offsets, and Spark reads it into tables.\n"
        "# (To start Spark takes ten seconds.)",
        f"history collect --store {HISTORY}",
        _no_history,
    ),
    Step(
        "Each time that a group shared out its partitions anew, and who had joined:",
        f"history rebalances --store {HISTORY} --group orders-range --group orders-kip848"
        " --columns group,kind,log_time,generation,protocol,members,converge_ms",
    ),
    Step(
        "And all of it as a page to look at, without network:",
        f"history report --store {HISTORY} -o {HISTORY}/report.html --force",
    ),
)


def main() -> int:
    signal.signal(signal.SIGTERM, _ended)
    signal.signal(signal.SIGHUP, _ended)
    began = time.monotonic()
    try:
        _say("Three real Kafka brokers on this machine (the first time their jars are fetched):")
        _show(f"sandbox up --brokers {_BROKERS} --name {_NAME}")
        with _stopped_at_the_end(Sandbox.up(brokers=_BROKERS, name=_NAME, progress=_note)) as sandbox:
            _say("The address of the brokers, so that it need not be typed each time:")
            print(f"$ export KGROUPS_BOOTSTRAP_SERVER={sandbox.bootstrap}", flush=True)
            for step in STEPS:
                _take(step, sandbox)
    except KgroupsError as error:
        print(f"demo: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print(f"\n# The report is at {HISTORY}/report.html")
    _say(f"That was it, in {time.monotonic() - began:.0f} s. To go on by yourself:  make sandbox")
    return 0


def _take(step: Step, sandbox: Sandbox) -> None:
    step.first(sandbox)
    _say(step.why)
    _show(step.command)
    environment = {**os.environ, "KGROUPS_BOOTSTRAP_SERVER": sandbox.bootstrap}
    done = subprocess.run([sys.executable, "-m", "kgroups", *shlex.split(step.command)], env=environment, check=False)
    if done.returncode:
        print(f"[exit code {done.returncode}]", flush=True)


@contextmanager
def _stopped_at_the_end(sandbox: Sandbox) -> Iterator[Sandbox]:
    try:
        yield sandbox
    finally:
        # An impatient second Ctrl-C must not leave brokers behind.
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
    """The command as typed at a prompt, over more than one line where it is long."""
    lines = textwrap.wrap(f"$ kgroups {command}", _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return " \\\n".join(lines)


def _note(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
