"""Measure history in one Spark session: ``python history_spark.py BOOTSTRAP RECORDS ROUNDS``.

Prints JSON lines: first the start of the session; then, for each share of the log in turn, the time from the topic to
typed Parquet and the peak memory of the driver's two processes. Round 0, in which Spark compiles its code, is marked.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.pipeline.extract.log import OffsetsLog
from kgroups.pipeline.load.write import COMPRESSION
from kgroups.pipeline.session import open_session

SHARES = (0.25, 0.5, 1.0, 2.0)
"""Shares of the requested number of records; the log contains twice as many."""


def main(bootstrap: str, records: int, rounds: int) -> None:
    began = time.perf_counter()
    spark = open_session()
    spark.range(10).count()
    say(what="session", seconds=time.perf_counter() - began)
    ends = {each: end.stable for each, end in OffsetsLog(ClientSettings(parse_bootstrap(bootstrap))).ends().items()}
    whole = sum(ends.values())
    for round_ in range(rounds + 1):
        for share in SHARES:
            stops = {str(each): int(end * share * records / whole) for each, end in ends.items()}
            seconds, rows = commits_to_parquet(spark, bootstrap, json.dumps(stops))
            say(what="parquet", round=round_, records=rows, seconds=seconds, driver_mb=driver_megabytes())


def commits_to_parquet(spark: SparkSession, bootstrap: str, stops: str) -> tuple[float, int]:
    source = spark.read.format("kgroups-offsets").option("bootstrap.servers", bootstrap).option("table", "commits")
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        source.option("endingOffsets", stops).load().write.parquet(f"{folder}/commits", compression=COMPRESSION)
        seconds = time.perf_counter() - began
        return seconds, spark.read.parquet(f"{folder}/commits").count()


def driver_megabytes() -> float:
    """Return the peak resident memory of this process and the JVM that it started."""
    own = Path("/proc/self/status")
    children = [Path(f"/proc/{pid}/status") for task in Path("/proc/self/task").iterdir() for pid in _children(task)]
    return sum(_peak(status) for status in (own, *children))


def _children(task: Path) -> list[str]:
    return (task / "children").read_text().split()


def _peak(status: Path) -> float:
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
