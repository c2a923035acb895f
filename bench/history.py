"""``python bench/history.py``: compare history with kafka-console-consumer and Kafka's own formatter, on one log.

Prints a report, and writes it to a file with ``--write``. Starts three brokers, fills ``__consumer_offsets`` with twice
the number of measured commits, and stops the brokers at the end, unless ``--keep`` is given.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT)

from bench.processes import Run, measure  # noqa: E402
from kgroups.sandbox import Sandbox  # noqa: E402
from kgroups.sandbox.commits import Commits, make_commits  # noqa: E402

NAME = "bench-history"
GROUPS, PARTITIONS = 300, 40
WORK = ROOT / ".bench" / "history"

CONSOLE, DUMP, DUMP_ONE = "kafka-console-consumer", "kgroups history dump", "kgroups history dump --processes 1"
FORMATTER = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"


class Target(NamedTuple):
    what: str
    least: float
    measured: float

    def line(self) -> str:
        word = "met" if self.measured >= self.least else "**missed**"
        return f"| {self.what} | {self.least:g}x | {self.measured:.2f}x | {word} |"


def main() -> int:
    options = _options()
    WORK.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    sandbox = _filled(options.records)
    try:
        processes = _processes(sandbox, options)
        spark = list(_spark(sandbox, options))
    finally:
        if not options.keep:
            sandbox.down()
    text = _report(options, processes, spark, load)
    print(text)
    if options.write:
        options.write.write_text(text)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench/history.py")
    parser.add_argument("--records", type=int, default=2_000_000, help="number of measured commits")
    parser.add_argument("--runs", type=int, default=3, help="number of rounds, after a warm-up round")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the report to FILE")
    parser.add_argument("--keep", action="store_true", help="keep the brokers running for the next run")
    return parser.parse_args()


def _filled(records: int) -> Sandbox:
    commits = _commits(records)
    mark = WORK / "filled"
    if NAME in Sandbox.names() and mark.exists() and mark.read_text() == str(commits):
        found = Sandbox.load(NAME)
        if set(found.status().brokers.values()) == {"running"}:
            return found
    if NAME in Sandbox.names():
        Sandbox.load(NAME).down()
    sandbox = Sandbox.up("4.3.1", 3, name=NAME)
    _say(f"writing {commits.records:,} commits")
    make_commits(sandbox, commits)
    mark.write_text(str(commits))
    return sandbox


def _processes(sandbox: Sandbox, options: argparse.Namespace) -> dict[str, list[Run]]:
    """Measure whole processes in turn; all read the whole log."""
    kgroups = (sys.executable, "-m", "kgroups", "history", "dump", "--bootstrap-server", sandbox.bootstrap)
    dump = (*kgroups, "--table", "commits", "--parquet", str(WORK / "dump"))
    console = sandbox.java_command(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", sandbox.bootstrap, "--topic", "__consumer_offsets", "--from-beginning"),
        *("--formatter", FORMATTER, "--max-messages", str(_commits(options.records).records)),
        heap="512m",
        as_shipped=True,
    )
    commands = {CONSOLE: tuple(console), DUMP: dump, DUMP_ONE: (*dump, "--processes", "1")}
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for round_ in range(options.runs + 1):
        for name, command in commands.items():
            _say(f"{name}: round {round_} of {options.runs}")
            shutil.rmtree(WORK / "dump", ignore_errors=True)
            run = measure(command, WORK / "answer", os.environ | {"PYTHONPATH": str(ROOT)})
            if round_:
                runs[name].append(run)
    return runs


def _commits(records: int) -> Commits:
    """Return the commits of the whole log: twice the requested number, the largest share measured with Spark."""
    return Commits(GROUPS, PARTITIONS, -(-2 * records // (GROUPS * PARTITIONS)))


def _spark(sandbox: Sandbox, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    script = [sys.executable, str(Path(__file__).with_name("history_spark.py"))]
    command = [*script, sandbox.bootstrap, str(options.records), str(options.runs)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        for line in process.stdout:
            _say(line.strip())
            yield json.loads(line)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")


def _report(
    options: argparse.Namespace, processes: dict[str, list[Run]], spark: list[dict[str, Any]], load: float
) -> str:
    whole = _commits(options.records).records
    rates = {name: [whole / run.wall for run in runs] for name, runs in processes.items()}
    console = statistics.median(rates[CONSOLE])
    parquet = [fact for fact in spark if fact["what"] == "parquet"]
    warm = {records: _of(parquet, records) for records in sorted({fact["records"] for fact in parquet})}
    measured = [statistics.median(seconds) for seconds in warm.values()]
    at = list(warm)
    largest = at[-1]
    spark_rate, dump_rate = largest / _median(warm[largest]), statistics.median(rates[DUMP])
    targets = [
        Target("topic to typed Parquet, Spark up, against the console consumer", 2, spark_rate / console),
        Target("dump, the whole process, against the console consumer", 1.4, dump_rate / console),
    ]
    lines = ["# How fast history is", ""]
    lines += [f"Written by `python bench/history.py {' '.join(sys.argv[1:])}`. {_machine(load)}", ""]
    lines += ["| | at least | measured | |", "| --- | --: | --: | --- |", *[target.line() for target in targets], ""]
    lines += [f"## Whole processes, {whole:,} records, output to a file", ""]
    lines.append("| | seconds: min / median / max | records a second | CPU seconds | peak MB |")
    lines.append("| --- | --: | --: | --: | --: |")
    for name, runs in processes.items():
        walls = [run.wall for run in runs]
        row = (f"{min(walls):.1f} / {_median(walls):.1f} / {max(walls):.1f}", f"{whole / _median(walls):,.0f}")
        more = (f"{_median([run.cpu for run in runs]):.1f}", f"{max(run.rss for run in runs) / 1e6:.0f}")
        lines.append(f"| {name} | {' | '.join((*row, *more))} |")
    (session,) = [fact["seconds"] for fact in spark if fact["what"] == "session"]
    lines += ["", "## Spark, topic to typed Parquet", "", f"The session's start, apart: {session:.1f} s.", ""]
    lines.append("| records | cold, s | warm: min / median / max | records a second | driver's peak MB |")
    lines.append("| --: | --: | --: | --: | --: |")
    for records, seconds in warm.items():
        (cold,) = [fact["seconds"] for fact in parquet if fact["records"] == records and not fact["round"]]
        peak = max(fact["driver_mb"] for fact in parquet if fact["records"] == records)
        spread = f"{min(seconds):.1f} / {_median(seconds):.1f} / {max(seconds):.1f}"
        lines.append(f"| {records:,} | {cold:.1f} | {spread} | {records / _median(seconds):,.0f} | {peak:.0f} |")
    slope = [f"{seconds / records * 1e6:.2f}" for records, seconds in zip(at, measured, strict=True)]
    lines += ["", f"Microseconds a record, as the log grows: {', '.join(slope)}.", ""]
    return "\n".join(lines)


def _machine(load: float) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "pyarrow", "confluent-kafka"))
    return (
        f"{os.cpu_count()} cores, shared with the three brokers (Kafka 4.3.1); Python {platform.python_version()}, "
        f"{packages}; load average {load:.1f} before it began. Compare the ratios, not the seconds."
    )


def _of(parquet: list[dict[str, Any]], records: int) -> list[float]:
    return [fact["seconds"] for fact in parquet if fact["records"] == records and fact["round"]]


def _median(values: list[float]) -> float:
    return statistics.median(values)


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
