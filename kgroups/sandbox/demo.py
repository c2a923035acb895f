"""``make demo``: real brokers, real groups, and the commands that a newcomer would type, each with an explanation.

It stops all that it has started, also on Ctrl-C, on SIGTERM, and after a failure.
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

from .cluster import Sandbox
from .folders import state_root
from .topics import fill

_NAME: Final = "demo"
_BROKERS: Final = 3
_WIDTH: Final = 98
_LAGS: Final = "--columns group,partition,current_offset,log_end_offset,lag,client_id"


class Step(NamedTuple):
    """A command, and its explanation; ``first`` is called before."""

    why: str
    command: str
    first: Callable[[Sandbox], None] = lambda sandbox: None


def _more_payments(sandbox: Sandbox) -> None:
    fill(sandbox.bootstrap, {"payments": {0: 20, 1: 20, 2: 20}})


HISTORY: Final = str(state_root().parent / "demo-history")
"""The history store of the demo; created again each time, and kept afterwards. Only the demo uses this folder."""


def _no_history(sandbox: Sandbox) -> None:
    shutil.rmtree(HISTORY, ignore_errors=True)


STEPS: Final = (
    Step(
        "Create some groups, in every state. Their members keep running in the background.",
        f"sandbox seed --name {_NAME}",
    ),
    Step("And share groups (KIP-932), with Java's own share consumers:", f"sandbox seed --name {_NAME} --kind share"),
    Step("List all groups, with their types and states:", "list --state --type"),
    Step("Only those without members:", "list --state empty"),
    Step(
        "Committed offsets and lag of a group: it lags by 50 records, on partition 5.\n"
        "# (--columns selects what fits here; without it, consumer IDs and hosts are shown too.)",
        f"describe orders-range {_LAGS}",
    ),
    Step(
        "Its members, and the partitions that are assigned to them:",
        "describe orders-range --members -v --columns client_id,host,current_assignment,subscription",
    ),
    Step(
        "A group with the new protocol (KIP-848): brokers assign partitions, and count epochs.",
        "describe orders-kip848 --members -v"
        " --columns client_id,current_epoch,current_assignment,target_epoch,target_assignment",
    ),
    Step(
        "Share groups are in the same table. They do not commit: each partition has a start offset.",
        "describe parcels-audit parcels-workers --columns group,topic,partition,start_offset,log_end_offset,lag",
    ),
    Step(
        "Explain the state of a group, and what one more member would change:",
        "explain orders-range --what-if members=+1",
    ),
    Step("The coordinator and the assignor of a group:", "describe orders-static --state"),
    Step("All groups whose name matches:", f"describe --regex 'payments-.*' {_LAGS}"),
    Step(
        "60 more records were written just now; this group does not read them, and its lag has increased:",
        f"describe payments-lagging {_LAGS}",
        _more_payments,
    ),
    Step(
        "The groups of a topic. NOTE flags commits beyond the end of the log, and on deleted records.",
        "describe --topic clicks --columns group,lag,note",
    ),
    Step(
        "The largest lags, in records and in time (the age of the first unread record):",
        "lag --top 4 --time --columns group,state,total_lag,max_lag,behind,time_lag",
    ),
    Step(
        "A transaction is open on the topic ledger: its 5 records count as lag ...",
        f"describe ledger-reader {_LAGS}",
    ),
    Step(
        "... unless lag is measured as for a consumer that reads only committed records:",
        f"describe ledger-reader --isolation read_committed {_LAGS}",
    ),
    Step(
        "For CI and monitoring: check groups against rules, with the exit codes of Nagios plugins.",
        "check orders-range payments-lagging --state stable --max-lag 60",
    ),
    Step("For scripts: JSON, or one JSON object per line.", "describe payments-empty -o jsonl --columns partition,lag"),
    Step(
        "A group that does not exist does not hide others: they are shown, and the exit code is 1.",
        "describe payments-empty no-such --state",
    ),
    Step(
        "Reset offsets: a plan first; nothing is changed without --execute; active groups are rejected.",
        "reset-offsets payments-empty orders-range --all-topics --shift-by -20",
    ),
    Step(
        "The history of these groups is in __consumer_offsets. Collect it into tables:",
        f"history collect --store {HISTORY}",
        _no_history,
    ),
    Step(
        "Each rebalance of a group, and its members:",
        f"history rebalances --store {HISTORY} --group orders-range --group orders-kip848"
        " --columns group,kind,log_time,generation,protocol,members,converge_ms",
    ),
    Step(
        "A report as an HTML page, which works offline:",
        f"history report --store {HISTORY} --file {HISTORY}/report.html --force",
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
            for step in STEPS:
                _run(step, sandbox)
    except KgroupsError as error:
        print(f"demo: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    print(f"\n# The report is at {HISTORY}/report.html")
    _say(f"Done in {time.monotonic() - began:.0f} s. To continue on your own:  make sandbox")
    return 0


def _run(step: Step, sandbox: Sandbox) -> None:
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
