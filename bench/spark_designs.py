"""``python bench/spark_designs.py``: three ways to collect on Spark, and what Spark shows of each.

1. tasks: ``mapInArrow`` over numbers of tasks; each task reads, decodes, and writes its share as a side effect;
2. records: ``spark.read.format("kgroups-offsets")``, written to ``kgroups-history``;
3. ranges: a DataFrame of ranges of offsets, written to ``kgroups-history``, whose tasks read and decode.

All run in one session on this machine, without its start, into new stores, in turn; the first round is not measured.
Ratios are those of a round. The seconds of all processors are those of this process, Spark's JVM, and its Python
workers. Prints a section, and replaces it in a file with ``--write``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT)

from pyspark.sql import SparkSession  # noqa: E402

from bench.spark_workers import with_section  # noqa: E402
from kgroups.config.settings import ClientSettings, parse_bootstrap  # noqa: E402
from kgroups.history.extract.ranges import Range, between, divide  # noqa: E402
from kgroups.history.live.ask import cluster_id  # noqa: E402
from kgroups.history.live.offsets_log import open_log  # noqa: E402
from kgroups.history.live.wire_session import WireSession  # noqa: E402
from kgroups.history.load.manifest import BATCH  # noqa: E402
from kgroups.history.load.records import SplitJob, Written, collect_split, entry_of  # noqa: E402
from kgroups.history.load.store import Identity, Store  # noqa: E402
from kgroups.history.load.tasks import run_on_spark  # noqa: E402
from kgroups.history.session import open_session  # noqa: E402
from kgroups.model.placement import OFFSETS_TOPIC  # noqa: E402
from kgroups.sandbox import Sandbox  # noqa: E402
from kgroups.sandbox.commits import Commits, make_commits  # noqa: E402

HEADING = "## Three designs on Spark"
WORK = ROOT / ".bench" / "spark-designs"
GROUPS, PARTITIONS = 300, 40
TASKS, RECORDS, RANGES = "1. tasks", "2. records", "3. ranges"
TICKS = os.sysconf("SC_CLK_TCK")


class Log(NamedTuple):
    """The log that all designs read."""

    bootstrap: str
    ranges: Sequence[Range]

    @property
    def settings(self) -> ClientSettings:
        return ClientSettings(parse_bootstrap(self.bootstrap), timeout=60)


class Run(NamedTuple):
    """One collection: seconds, and seconds of all processors."""

    wall: float
    cpu: float


def main() -> int:
    options = _options()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    load = os.getloadavg()[0]
    if options.bootstrap:
        text = _measure(options.bootstrap, options.runs, load)
    else:
        with Sandbox.up("4.3.1", 3, name="bench-spark-designs") as sandbox:
            make_commits(sandbox, Commits(GROUPS, PARTITIONS, max(1, options.records // (GROUPS * PARTITIONS))))
            text = _measure(sandbox.bootstrap, options.runs, load)
    print(text)
    if options.write:
        options.write.write_text(with_section(options.write.read_text(), HEADING, text))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench/spark_designs.py")
    parser.add_argument("--records", type=int, default=2_000_000, help="size of the log")
    parser.add_argument("--runs", type=int, default=5, help="number of measured rounds")
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="read this cluster, and write no log")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the section into FILE")
    return parser.parse_args()


def _measure(bootstrap: str, runs: int, load: float) -> str:
    with open_log(ClientSettings(parse_bootstrap(bootstrap))) as log:
        ends = log.ends()
    starts, stops = ({at: end.start for at, end in ends.items()}, {at: end.stable for at, end in ends.items()})
    found = Log(bootstrap, between(starts, stops))
    settings = {"spark.ui.enabled": "true", "spark.ui.port": "0"}
    spark = open_session(short=True, settings=settings, log=str(WORK / "spark.log"))
    designs: Mapping[str, Callable[[SparkSession, Log, str], None]] = {
        TASKS: collect_by_tasks,
        RECORDS: collect_records,
        RANGES: collect_by_ranges,
    }
    measured: dict[str, list[Run]] = {name: [] for name in designs}
    shown: dict[str, str] = {}
    for number in range(runs + 1):
        names = list(designs)[number % 3 :] + list(designs)[: number % 3]
        for name in names:
            folder = WORK / name
            shutil.rmtree(folder, ignore_errors=True)
            cpu, began = processor_seconds(os.getpid()), time.monotonic()
            designs[name](spark, found, str(folder))
            run = Run(time.monotonic() - began, processor_seconds(os.getpid()) - cpu)
            stored = sum(entry.records for entry in Store(str(folder)).snapshot().entries.values())
            print(f"bench: {number} {name}: {run.wall:.1f} s, {run.cpu:.1f} CPU s, {stored:,}", file=sys.stderr)
            if number:
                measured[name].append(run)
            else:
                shown[name] = _shown(spark)
    return _section(measured, shown, stored, load)


def _identity(log: Log) -> Identity:
    session = WireSession(log.settings)
    try:
        return Identity(cluster_id(session), OFFSETS_TOPIC, "")
    finally:
        session.close()


def collect_by_tasks(spark: SparkSession, log: Log, location: str) -> None:
    store = Store(location)
    store.create(_identity(log))
    job = SplitJob(log.settings, OFFSETS_TOPIC, store.storage, store.cluster)
    splits = divide(log.ranges, spark.sparkContext.defaultParallelism)
    results = run_on_spark(spark, print, partial(collect_split, job), splits)
    positions = {piece.partition: piece.stop for piece in log.ranges}
    store.commit(entry_of(BATCH, [Written.of_json(each) for each in results], (), positions))


def collect_records(spark: SparkSession, log: Log, location: str) -> None:
    source = spark.read.format("kgroups-offsets").option("bootstrap.servers", log.bootstrap)
    records = source.option("table", "records").load()
    records.write.format("kgroups-history").option("bootstrap.servers", log.bootstrap).mode("append").save(location)


def collect_by_ranges(spark: SparkSession, log: Log, location: str) -> None:
    splits = divide(log.ranges, spark.sparkContext.defaultParallelism)
    rows = spark.sparkContext.parallelize(splits, len(splits)).flatMap(lambda split: split)
    ranges = spark.createDataFrame(rows, "log_partition int, from_offset bigint, to_offset bigint")
    ranges.write.format("kgroups-history").option("bootstrap.servers", log.bootstrap).mode("append").save(location)


def processor_seconds(pid: int) -> float:
    """Return the seconds of a process, and of all below it, also of those that have ended."""
    total = 0.0
    for process in {pid, *_below(pid)}:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        total += sum(map(int, fields[11:15])) / TICKS
    return total


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in task.read_text().split()]
        except OSError:
            continue
        found += [process for child in children for process in (child, *_below(child))]
    return found


def _shown(spark: SparkSession) -> str:
    """Return what Spark's REST API shows of the last query and its last stage."""
    time.sleep(2)  # metrics arrive later
    context = spark.sparkContext
    where = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}"
    query = _get(f"{where}/sql?details=true&length=1000")[-1]
    nodes = [_node(node) for node in query["nodes"] if _node(node)]
    stages = [stage for stage in _get(f"{where}/stages") if stage["status"] == "COMPLETE"]
    stage = max(stages, key=lambda each: each["stageId"])
    counts = ", ".join(f"{name} {stage[name]:,}" for name in ("inputRecords", "outputRecords"))
    return f"{' -> '.join(nodes)}; stage: {counts}"


def _node(node: Mapping[str, Any]) -> str:
    """Return a node of the plan with its rows. Bytes of Python data sources are wrong in Spark 4.3.0: they add up."""
    rows = [metric["value"] for metric in node["metrics"] if metric["name"] == "number of output rows"]
    return f"`{node['nodeName']}` ({rows[0]} rows)" if rows else ""


def _get(url: str) -> Any:
    with urllib.request.urlopen(url) as response:
        return json.load(response)


def _section(measured: Mapping[str, Sequence[Run]], shown: Mapping[str, str], records: int, load: float) -> str:
    lines = [
        HEADING,
        "",
        f"Written by `python bench/spark_designs.py {' '.join(sys.argv[1:])}`. {records:,} records; `local[*]`, "
        f"{os.cpu_count()} cores, shared with the brokers and other programs; load average {load:.1f} before it began. "
        f"Medians of {len(measured[TASKS])} rounds, without the start of Spark and the first round. Ratios are the "
        "median of those of each round.",
        "",
        "| design | seconds | against 1 | CPU seconds, without the brokers | against 1 | what Spark shows |",
        "| --- | --: | --: | --: | --: | --- |",
    ]
    for name, runs in measured.items():
        pairs = list(zip(runs, measured[TASKS], strict=True))
        wall, cpu = (statistics.median(each) for each in zip(*runs, strict=True))
        walls, cpus = (statistics.median(run[at] / first[at] for run, first in pairs) for at in (0, 1))
        lines.append(f"| {name} | {wall:.1f} | {walls:.2f}x | {cpu:.1f} | {cpus:.2f}x | {shown[name]} |")
    return "\n".join((*lines, ""))


if __name__ == "__main__":
    sys.exit(main())
