"""``python bench/history.py``: ``kgroups history`` next to kafka-console-consumer and Kafka's own formatter.

Measures whole processes in turn, on a log that grows: in each round of each size, the console consumer into a file,
``history dump``, the start of Spark, ``history collect`` into a new store, and a second ``collect`` with little new
data. The start of Spark is a process that opens the session of kgroups and counts ten rows; ratios are those of a
round, without the start that was measured in it. Then asks the store questions: by DuckDB, and one of them on Spark.
Prints a report, and writes it to a file with ``--write``.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT)

from bench.processes import measure  # noqa: E402
from bench.spark_workers import kept_section  # noqa: E402
from kgroups.history.jobs.collect import SMALL  # noqa: E402
from kgroups.sandbox import Sandbox  # noqa: E402
from kgroups.sandbox.commits import Commits, make_commits  # noqa: E402

NAME = "bench-history"
GROUPS, PARTITIONS = 300, 40
ROUND = GROUPS * PARTITIONS
WORK = ROOT / ".bench" / "history"
FORMATTER = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
NEW = 4
"""Rounds of commits before the second collection."""

START = "from kgroups.history.session import open_session\nopen_session(short=True).range(10).count()\n"

CONSOLE, DUMP, COLLECT, AGAIN = "kafka-console-consumer", "history dump", "history collect", "history collect, again"
SPARK = "the start of Spark"

QUESTIONS = {
    "stale": ("stale",),
    "lag, last hour": ("lag", "--since", "1h"),
    "verdicts": ("show", "verdicts"),
    "count in SQL": ("sql", "select count(*) from rebalances"),
    "report": ("report", "--since", "24h", "--force", "-o", str(WORK / "report.html")),
    "stale, on Spark": ("stale", "--engine", "spark"),
}


class Measured(NamedTuple):
    """One process: seconds, and the peak memory of its parts in bytes."""

    seconds: float
    peaks: dict[str, int]


class Size(NamedTuple):
    """The runs on a log of this number of records, by contender."""

    records: int
    runs: dict[str, list[Measured]]

    def seconds(self, contender: str) -> float:
        return statistics.median(run.seconds for run in self.runs[contender])

    def net(self) -> list[float]:
        """Return the seconds of each collection, without the start of Spark in the same round, if it needs Spark."""
        starts = [run.seconds if self.records > SMALL else 0.0 for run in self.runs[SPARK]]
        return [run.seconds - start for run, start in zip(self.runs[COLLECT], starts, strict=True)]

    def ratios(self, seconds: Sequence[float]) -> list[float]:
        """Return how many times faster than the console consumer these runs were, by round."""
        return [console.seconds / each for console, each in zip(self.runs[CONSOLE], seconds, strict=True)]


def main() -> int:
    options = _options()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    load = os.getloadavg()[0]
    with Sandbox.up("4.3.1", 3, name=NAME) as sandbox:
        _run([sys.executable, "-c", START])  # writes the archive of classes, which later starts use
        sizes = [_measure_size(sandbox, records, options.runs) for records in options.records]
    text = _report(sizes, load)
    print(text)
    if options.write:
        options.write.write_text(text + kept_section(options.write))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench/history.py")
    parser.add_argument(
        "--records",
        type=lambda text: sorted(map(int, text.split(","))),
        default=[500_000, 2_000_000, 8_000_000],
        help="sizes of the log, separated by commas",
    )
    parser.add_argument("--runs", type=int, default=3, help="number of rounds at each size")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the report to FILE")
    return parser.parse_args()


def _measure_size(sandbox: Sandbox, records: int, runs: int) -> Size:
    present = _written(sandbox)
    _say(f"writing up to {records:,} commits")
    make_commits(sandbox, Commits(GROUPS, PARTITIONS, max(1, (records - present) // ROUND), topic=f"to-{records}"))
    measured: dict[str, list[Measured]] = {name: [] for name in (CONSOLE, DUMP, SPARK, COLLECT, AGAIN, *QUESTIONS)}
    kgroups = (sys.executable, "-m", "kgroups", "history")
    where = ("--bootstrap-server", sandbox.bootstrap)
    collect = (*kgroups, "collect", "--store", str(WORK / "store"), *where)
    for number in range(runs):
        _say(f"{records:,}: round {number + 1} of {runs}")
        records = _written(sandbox)
        shutil.rmtree(WORK / "dump", ignore_errors=True)
        shutil.rmtree(WORK / "store", ignore_errors=True)
        measured[CONSOLE].append(_run(_console(sandbox, records)))
        measured[DUMP].append(_run((*kgroups, "dump", "--table", "commits", "--parquet", str(WORK / "dump"), *where)))
        measured[SPARK].append(_run([sys.executable, "-c", START]))
        measured[COLLECT].append(_run(collect))
        make_commits(sandbox, Commits(GROUPS, PARTITIONS, NEW, topic=f"new-{records}-{number}"))
        measured[AGAIN].append(_run(collect))
        for name, question in QUESTIONS.items():
            measured[name].append(_run((*kgroups, *question, "--store", str(WORK / "store"))))
    return Size(records, measured)


def _written(sandbox: Sandbox) -> int:
    from kgroups.config.settings import ClientSettings, parse_bootstrap
    from kgroups.errors import HistoryError
    from kgroups.history.live.offsets_log import open_log

    try:
        with open_log(ClientSettings(parse_bootstrap(sandbox.bootstrap))) as log:
            ends = log.ends()
    except HistoryError:  # no group has committed yet
        return 0
    return sum(each.stable - each.start for each in ends.values())


def _console(sandbox: Sandbox, records: int) -> Sequence[str]:
    return sandbox.java_command(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", sandbox.bootstrap, "--topic", "__consumer_offsets", "--from-beginning"),
        *("--formatter", FORMATTER, "--max-messages", str(records)),
        heap="512m",
        as_shipped=True,
    )


def _run(command: Sequence[str]) -> Measured:
    peaks: dict[str, int] = {}
    stopped = threading.Event()
    watcher = threading.Thread(target=_watch, args=(os.getpid(), peaks, stopped.wait))
    watcher.start()
    try:
        run = measure(tuple(command), WORK / "answer", os.environ | {"PYTHONPATH": str(ROOT)})
    finally:
        stopped.set()
        watcher.join()
    return Measured(run.wall, {"driver": run.rss} | peaks)


def _watch(parent: int, peaks: dict[str, int], stopped: Callable[[float], bool]) -> None:
    """Note the peaks of the processes that a command starts: Spark's JVM, and its Python workers."""
    while not stopped(0.2):
        for child in _children(parent):
            for process in _below(child):
                try:
                    name = Path(f"/proc/{process}/comm").read_text().strip()
                    lines = Path(f"/proc/{process}/status").read_text().splitlines()
                except OSError:  # it has ended
                    continue
                peak = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
                role = "JVM" if name == "java" else "worker"
                peaks[role] = max(peak, peaks.get(role, 0))


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _below(pid: int) -> list[int]:
    found = _children(pid)
    return found + [process for child in found for process in _below(child)]


def _report(sizes: Sequence[Size], load: float) -> str:
    lines = [
        "# How fast history is",
        "",
        f"Written by `python bench/history.py {' '.join(sys.argv[1:])}`. {_machine(load)}",
        "",
        f"Medians of whole processes in seconds. Above {SMALL:,} records, `collect` is shown with the start of Spark; "
        "its rate and ratio are without the start that was measured in the same round. Ratios are the median of those "
        "of each round, which are in parentheses. A second `collect` finds 48,000 new records, and needs no Spark.",
        "",
        "| records | console consumer to a file | `dump --parquet` | start of Spark | `collect` | `collect` again | "
        "collect, records/s | collect against the console | dump against the console |",
        "| --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for size in sizes:
        seconds = [f"{size.seconds(name):.1f}" for name in (CONSOLE, DUMP, SPARK, COLLECT, AGAIN)]
        rate = size.records / statistics.median(size.net())
        collect, dump = _ratio(size.ratios(size.net())), _ratio(size.ratios([run.seconds for run in size.runs[DUMP]]))
        lines.append(f"| {size.records:,} | {' | '.join(seconds)} | {rate:,.0f} | {collect} | {dump} |")
    lines += ["", "## Cost of each further million records, in seconds", ""]
    lines += ["| from | to | console consumer | `dump` | `collect` |", "| --: | --: | --: | --: | --: |"]
    for one, two in pairwise(sizes):
        millions = (two.records - one.records) / 1e6
        both = [
            *((one.seconds(name), two.seconds(name)) for name in (CONSOLE, DUMP)),
            (statistics.median(one.net()), statistics.median(two.net())),
        ]
        slopes = [f"{(last - first) / millions:.2f}" for first, last in both]
        lines.append(f"| {one.records:,} | {two.records:,} | {' | '.join(slopes)} |")
    lines += ["", "## Questions to the store, in seconds, whole processes", ""]
    lines += [f"| records | {' | '.join(QUESTIONS)} |", f"| --: {'| --: ' * len(QUESTIONS)}|"]
    for size in sizes:
        lines.append(f"| {size.records:,} | {' | '.join(f'{size.seconds(name):.1f}' for name in QUESTIONS)} |")
    lines += ["", "## Peak memory of `collect`, in MB", ""]
    lines += ["| records | Python of the driver | Spark's JVM | largest Python worker |", "| --: | --: | --: | --: |"]
    for size in sizes:
        peaks = [max(run.peaks.get(role, 0) for run in size.runs[COLLECT]) for role in ("driver", "JVM", "worker")]
        lines.append(f"| {size.records:,} | {' | '.join(f'{peak / 1e6:.0f}' for peak in peaks)} |")
    return "\n".join((*lines, ""))


def _ratio(rounds: Sequence[float]) -> str:
    """Return the median, and each round in parentheses."""
    return f"{statistics.median(rounds):.2f}x ({', '.join(f'{each:.2f}' for each in rounds)})"


def _machine(load: float) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "pyarrow", "confluent-kafka"))
    return (
        f"{os.cpu_count()} cores, shared with the three brokers (Kafka 4.3.1); Python {platform.python_version()}, "
        f"{packages}; load average {load:.1f} before it began. Compare the ratios, not the seconds."
    )


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
