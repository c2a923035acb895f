"""``python bench/reset.py``: a reset of many groups, by kgroups, by Kafka's own tool and by an AdminClient script.

Prints a report; with ``--write`` writes it down. It brings up three brokers of its own and takes them down again,
unless ``--keep`` is given. Whoever's turn it is moves every offset, to the end of the log or back to its start, where
the one before has left them; then all offsets are looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from itertools import cycle
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT)

from bench.lean import WORK, Lean, ensure_lean  # noqa: E402
from bench.processes import Run, measure  # noqa: E402
from kgroups.sandbox import Sandbox  # noqa: E402
from kgroups.sandbox.load import Load, seed_load  # noqa: E402

NAME = "bench-reset"
OURS, SHIPPED, QUICK, ADMIN = (
    *("kgroups", "kafka-consumer-groups", "kafka-consumer-groups, quick JVM"),
    "AdminClient script, written to win",
)
TARGET = 10
"""How many times our time the Java tool has to take."""

SCOPE = ("--all-groups", "--all-topics", "--execute")


def main() -> int:
    options = _options()
    lean = ensure_lean(_say)
    load = os.getloadavg()[0]
    shape = Load(options.groups, options.partitions, stable=0)
    sandbox = Sandbox.load(NAME) if NAME in Sandbox.names() else Sandbox.up("4.3.1", 3, name=NAME)
    try:
        seed_load(sandbox, shape, _say)
        runs = _measure(sandbox, lean, shape, options.runs)
    finally:
        if not options.keep:
            sandbox.down()
    text = _report(shape, runs, load)
    print(text)
    if options.write:
        options.write.write_text(text)
    return 0 if _median(runs[SHIPPED]) >= TARGET * _median(runs[OURS]) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench/reset.py")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--partitions", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3, help="rounds that count, after one that does not")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report down")
    parser.add_argument("--keep", action="store_true", help="leave the brokers up for the next run")
    return parser.parse_args()


def _measure(sandbox: Sandbox, lean: Lean, shape: Load, rounds: int) -> dict[str, list[Run]]:
    runs: dict[str, list[Run]] = {name: [] for name in (OURS, SHIPPED, QUICK, ADMIN)}
    directions = cycle(("latest", "earliest"))
    for round_ in range(rounds + 1):
        for name in runs:
            where = next(directions)
            command = _command(name, sandbox, lean, where)
            _say(f"{name}: to {where}, round {round_} of {rounds}")
            run = measure(command, WORK / "answer")
            (WORK / "undo.json").unlink(missing_ok=True)
            _check(name, sandbox, lean, shape, where)
            if round_:
                runs[name].append(run)
    return runs


def _command(name: str, sandbox: Sandbox, lean: Lean, where: str) -> tuple[str, ...]:
    if name == OURS:
        undo = ("--yes", "--undo-file", str(WORK / "undo.json"))
        return (lean.kgroups, "reset-offsets", "-b", sandbox.bootstrap, *SCOPE, f"--to-{where}", *undo)
    if name == ADMIN:
        return (lean.python, "-I", str(Path(__file__).with_name("peer_reset.py")), sandbox.bootstrap, where)
    words = ("--reset-offsets", *SCOPE, f"--to-{where}", "--timeout", "600000")
    return tuple(sandbox.java_tool_command(*words, as_shipped=name == SHIPPED))


def _check(name: str, sandbox: Sandbox, lean: Lean, shape: Load, where: str) -> None:
    """:raises SystemExit: when not every offset is where it was to go."""
    command = [lean.kgroups, "describe", "-b", sandbox.bootstrap, "--all-groups", "-o", "json"]
    rows = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["items"]
    key = "log_start_offset" if where == "earliest" else "log_end_offset"
    there = sum(row["current_offset"] == row[key] for row in rows)
    if (there, len(rows)) != (shape.groups * shape.partitions,) * 2:
        raise SystemExit(f"{name}: {there:,} of {len(rows):,} offsets are at the {key}")


def _report(shape: Load, runs: dict[str, list[Run]], load: float) -> str:
    ratio = _median(runs[SHIPPED]) / _median(runs[OURS])
    word = "met" if ratio >= TARGET else "**missed**"
    shape_of = f"{shape.groups:,} groups x {shape.partitions} partitions"
    lines = [
        "# How fast offsets are reset",
        "",
        f"Written by `python bench/reset.py {' '.join(sys.argv[1:])}`".rstrip() + f". {_machine(load)}",
        "",
        f"All offsets of {shape_of}, whole processes, every one moved "
        f"and looked at afterwards. Kafka's own tool takes **{ratio:.1f} times** as long; at least {TARGET}: {word}.",
        "",
        "| | seconds: min / median / max | times ours | CPU seconds | peak MB |",
        "| --- | --: | --: | --: | --: |",
        *_rows(runs),
        "",
        "kgroups keeps the old offsets in a file, which is on the disk before it writes the new ones. The others do",
        "not; the script does not even look whether a group has members.",
        "",
    ]
    return "\n".join(lines)


def _rows(runs: dict[str, list[Run]]) -> Iterator[str]:
    for name, of in runs.items():
        walls = [run.wall for run in of]
        spread = f"{min(walls):.2f} / {_median(of):.2f} / {max(walls):.2f}"
        cpu, peak = statistics.median(run.cpu for run in of), max(run.rss for run in of) / 1e6
        yield f"| {name} | {spread} | {_median(of) / _median(runs[OURS]):.1f} | {cpu:.2f} | {peak:.0f} |"


def _median(runs: list[Run]) -> float:
    return statistics.median(run.wall for run in runs)


def _machine(load: float) -> str:
    return (
        f"{os.cpu_count()} cores, shared with the three brokers (Kafka 4.3.1); Python {platform.python_version()}, "
        f"confluent-kafka {version('confluent-kafka')}; load average {load:.1f} before it began. Compare the ratios, "
        "not the seconds."
    )


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
