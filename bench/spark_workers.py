"""``python bench/spark_workers.py``: ``kgroups history collect`` on a standalone Spark with several workers.

Each worker has one core, and runs on one core of this machine only. The numbers of workers take turns. The rate is
that of all batches but the first, as ``collect`` reports it: without the start of Spark. Prints a section, and replaces
it in a file with ``--write``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT)

from bench.spark_cluster import LOCAL, standalone  # noqa: E402
from kgroups.sandbox import Sandbox  # noqa: E402
from kgroups.sandbox.commits import Commits, make_commits  # noqa: E402

HEADING = "## Workers of a cluster"
WORK = ROOT / ".bench" / "spark-workers"
GROUPS, PARTITIONS = 300, 40
BATCHES = 8
"""Number of batches of a collection; the first one is not measured."""
BATCH = re.compile(r"batch (\d+): ([\d,]+) records?, ([\d,]+)/s")


class Run(NamedTuple):
    """One collection: seconds of the measured batches, and their records."""

    seconds: float
    records: int


def main() -> int:
    options = _options()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    load = os.getloadavg()[0]
    runs: dict[int, list[Run]] = {workers: [] for workers in options.workers}
    with Sandbox.up("4.3.1", 1, name="bench-spark-workers") as sandbox:
        make_commits(sandbox, Commits(GROUPS, PARTITIONS, max(1, options.records // (GROUPS * PARTITIONS))))
        for number in range(options.runs):
            for workers in options.workers:
                print(f"bench: round {number + 1} of {options.runs}, {workers} workers", file=sys.stderr, flush=True)
                runs[workers].append(_run(sandbox, workers, options.records))
    text = _section(runs, load)
    print(text)
    if options.write:
        options.write.write_text(with_section(options.write.read_text(), HEADING, text))
    return 0


def with_section(text: str, heading: str, section: str) -> str:
    """Return a text with a section instead of the one with its heading; at the end if there is none."""
    before, _, rest = text.partition(heading)
    _, following, later = rest.partition("\n## ")
    return f"{before.rstrip()}\n\n{section}{following}{later}"


def kept_section(file: Path) -> str:
    """Return the sections of a file from that of this program on, to append them to another text; empty without one."""
    _, heading, rest = file.read_text().partition(HEADING) if file.exists() else ("", "", "")
    return f"\n{heading}{rest}" if heading else ""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench/spark_workers.py")
    parser.add_argument("--records", type=int, default=2_000_000, help="size of the log")
    parser.add_argument(
        "--workers",
        type=lambda text: sorted(map(int, text.split(","))),
        default=[1, 2],
        help="numbers of workers, separated by commas",
    )
    parser.add_argument("--runs", type=int, default=3, help="number of rounds")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the section into FILE")
    return parser.parse_args()


def _run(sandbox: Sandbox, workers: int, records: int) -> Run:
    folder = WORK / str(workers)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    environment = os.environ | LOCAL | {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    with standalone(folder, environment, workers=workers, memory="1g", pinned=True) as master:
        command = (
            *(sys.executable, "-m", "kgroups", "history", "collect", "--store", str(folder / "store")),
            *("--bootstrap-server", sandbox.bootstrap, "--max-records", str(-(-records // BATCHES))),
            *("--master", master, "--conf", f"spark.cores.max={workers}", "--conf", "spark.executor.memory=700m"),
            *("--conf", "spark.scheduler.minRegisteredResourcesRatio=1", "--spark-log", str(folder / "spark.log")),
        )
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    batches = [(int(number), _number(found), _number(rate)) for number, found, rate in BATCH.findall(done.stderr)][1:]
    return Run(sum(found / rate for _, found, rate in batches), sum(found for _, found, _ in batches))


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _section(runs: Mapping[int, Sequence[Run]], load: float) -> str:
    first = min(runs)
    rates = {workers: statistics.median(run.records / run.seconds for run in found) for workers, found in runs.items()}
    lines = [
        HEADING,
        "",
        f"Written by `python bench/spark_workers.py {' '.join(sys.argv[1:])}`. A standalone master and workers of one "
        f"core each, pinned to one core of this machine; {os.cpu_count()} cores, shared with one broker (Kafka 4.3.1), "
        f"the driver, and other programs; load average {load:.1f} before it began. Median of {len(runs[first])} "
        f"collections of {runs[first][0].records:,} records each, without the start of Spark and the first batch.",
        "",
        f"| workers | records/s | against {first} | each run, in seconds |",
        "| --: | --: | --: | --- |",
    ]
    for workers, found in runs.items():
        each = ", ".join(f"{run.seconds:.1f}" for run in found)
        lines.append(f"| {workers} | {rates[workers]:,.0f} | {rates[workers] / rates[first]:.2f}x | {each} |")
    return "\n".join((*lines, ""))


if __name__ == "__main__":
    sys.exit(main())
