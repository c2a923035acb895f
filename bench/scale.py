"""``python -m bench.scale``: what each command costs as a simulated cluster doubles in size.

Runs whole processes against the brokers of :mod:`bench.simulated`, and reports seconds, CPU seconds, peak memory,
requests (lines of ``--debug``), and bytes. Further parts: one hung broker of 100, and a link with 80 ms latency and
packet loss (:mod:`bench.link`). Every output is counted: a command that misses a group fails the measurement.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from .link import ROOT, Unavailable, link
from .simulated import LOOPBACK, ClusterShape, simulated

SHAPES = {
    "brokers": ClusterShape(brokers=100, groups=65_000, partitions=5, topics=500, offsets_partitions=100),
    "rows": ClusterShape(brokers=3, groups=100_000, partitions=10, topics=10),
}
COMMANDS = {
    "list": ("list",),
    "describe": ("describe", "--all-groups"),
    "lag": ("lag",),
    "check": ("check", "--all-groups", "--max-lag", "1000000"),
    "watch": ("watch", "--count", "1"),
    "exporter": ("exporter", "--listen", "127.0.0.1:0"),
}
PARTS = ("growth", "hung", "link")
TARGET = 1.05
HUNG = 42
BROKER_TIMEOUT = 5.0
PATIENCE = 300
DELAY = 0.04
"""Seconds each way: a round trip takes 80 ms."""

SCRAPE = """
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=300) as answer:
    lines = answer.readlines()
(seconds,) = (line.split()[1] for line in lines if line.startswith(b"kgroups_scrape_duration_seconds "))
print(float(seconds), sum(line.startswith(b"kafka_consumergroup_info{") for line in lines))
"""
_EXCHANGE = re.compile(rb"^debug: .* sent=(\d+)B received=(\d+)B")


class Cost(NamedTuple):
    """One process: seconds of clock and CPU, peak memory in MiB, requests, MB, and groups or rows in its output.

    The seconds of the exporter are those of its first poll.
    """

    code: int
    seconds: float
    cpu: float
    memory: float
    requests: int
    sent: float
    received: float
    items: int


class Bench(NamedTuple):
    """Runs commands, possibly in another network namespace."""

    kgroups: str
    client: tuple[str, ...] = ()
    """Prefix of each command."""
    broker_timeout: float = 10.0

    def run(self, name: str, bootstrap: str) -> Cost:
        """Run a command once."""
        words = [*COMMANDS[name], "--debug", "-b", bootstrap, "--timeout", f"{PATIENCE}s"]
        command = [*self.client, self.kgroups, *words, "--broker-timeout", f"{self.broker_timeout}s"]
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            began = time.perf_counter()
            with out.open("wb") as stdout, err.open("wb") as stderr:
                child = subprocess.Popen(command, stdout=stdout, stderr=stderr)
            scraped = self._scrape(child, err) if name == "exporter" else None
            _, status, used = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - began
            child.returncode = code = os.waitstatus_to_exitcode(status)
            exchanges = [found for line in err.open("rb") if (found := _EXCHANGE.match(line))]
            count = scraped[1] if scraped else _count(out, b'"group": "' if name == "watch" else b"\n")
        return Cost(
            0 if scraped else code,
            scraped[0] if scraped else seconds,
            used.ru_utime + used.ru_stime,
            used.ru_maxrss / 1024,
            len(exchanges),
            sum(int(found[1]) for found in exchanges) / 1e6,
            sum(int(found[2]) for found in exchanges) / 1e6,
            count,
        )

    def _scrape(self, exporter: subprocess.Popen[bytes], err: Path) -> tuple[float, int]:
        """Return the seconds and the number of groups of one scrape, and end the exporter."""
        try:
            while (found := re.search(r"http://\S+", err.read_text())) is None:
                if exporter.poll() is not None:
                    raise SystemExit(f"the exporter did not start: {err.read_text()}")
                time.sleep(0.05)
            command = [*self.client, sys.executable, "-c", SCRAPE, found[0]]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        finally:
            exporter.terminate()
        return float(output[0]), int(output[1])


def _count(path: Path, mark: bytes) -> int:
    """Count a string in chunks: the memory of this process counts in the peak memory of its children."""
    total, tail = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            data = tail + chunk
            total += data.count(mark)
            tail = data[len(data) - len(mark) + 1 :]
    return total


def expected(name: str, shape: ClusterShape) -> int | None:
    """Return the expected :attr:`Cost.items` with all brokers up; a header counts as a row."""
    rows = shape.groups * shape.partitions + 1
    counts = {"list": shape.groups, "describe": rows, "lag": shape.groups + 1, "check": None}
    return counts.get(name, shape.groups)


def best(runs: Sequence[Cost]) -> Cost:
    """Return the minimum times and the maximum memory: other load on the machine only adds time."""
    return runs[0]._replace(
        seconds=min(run.seconds for run in runs),
        cpu=min(run.cpu for run in runs),
        memory=max(run.memory for run in runs),
    )


def checked(name: str, shape: ClusterShape, cost: Cost) -> Cost:
    """Return the cost of a command that printed everything.

    :raises SystemExit: if its exit code is not 0, or a group or row is missing.
    """
    required = expected(name, shape)
    if cost.code or required not in (None, cost.items):
        raise SystemExit(f"{name} of {shape}: exit code {cost.code}, {cost.items} of {required} groups or rows")
    return cost


def slope(first: float, last: float, doublings: int) -> float:
    """Return the exponent of growth: 1 is linear."""
    return math.log2(last / first) / doublings


def growth(shape: ClusterShape, names: Sequence[str], steps: int, runs: int, bench: Bench) -> Iterator[str]:
    """Measure commands as the number of groups doubles, and with a single group; yield a Markdown table."""
    sizes = [shape.groups >> step for step in reversed(range(steps))]
    costs: dict[str, list[Cost]] = {name: [] for name in names}
    for groups in (1, *sizes):
        each = shape._replace(groups=groups)
        with simulated(each) as bootstrap:
            for name in names:
                say(f"{name} of {groups:,} groups on {shape.brokers} brokers")
                costs[name].append(best([checked(name, each, bench.run(name, bootstrap)) for _ in range(runs)]))
    shown = ", ".join(f"{groups:,}" for groups in sizes)
    yield f"{shape.brokers} brokers; {shown} groups x {shape.partitions} partitions of {shape.topics} topics:"
    yield ""
    yield (
        "| command | CPU s, 1 group | CPU s | slope (largest; without start-up) | MiB, 1 group | MiB | slope (largest; "
        "without start-up) | requests | MB received | s |"
    )
    yield "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
    for name, (base, *measured) in costs.items():
        cpu = _slopes(base.cpu, [cost.cpu for cost in measured])
        memory = _slopes(base.memory, [cost.memory for cost in measured])
        yield (
            f"| `{name}` | {base.cpu:.2f} | {_series(measured, 'cpu', '.2f')} | {cpu} "
            f"| {base.memory:.0f} | {_series(measured, 'memory', '.0f')} | {memory} "
            f"| {_series(measured, 'requests', ',')} | {measured[-1].received:.1f} | {measured[-1].seconds:.1f} |"
        )


def _series(costs: Sequence[Cost], field: str, form: str) -> str:
    return ", ".join(format(getattr(cost, field), form) for cost in costs)


def _slopes(base: float, values: Sequence[float]) -> str:
    doublings = len(values) - 1
    if not doublings:
        return "-"
    total = slope(values[0], values[-1], doublings)
    largest = max(slope(*pair, 1) for pair in pairwise(values))
    net = slope(values[0] - base, values[-1] - base, doublings) if values[0] > base < values[-1] else math.nan
    return f"{total:.2f} ({largest:.2f}; {'-' if math.isnan(net) else f'{net:.2f}'})"


def hung(shape: ClusterShape, names: Sequence[str], bench: Bench) -> Iterator[str]:
    """Measure commands with all brokers up and with one that hangs; yield a Markdown table."""
    silent = frozenset({HUNG % shape.brokers})
    bench = bench._replace(broker_timeout=BROKER_TIMEOUT)
    with simulated(shape) as bootstrap:
        whole = {name: checked(name, shape, bench.run(name, bootstrap)) for name in names}
    with simulated(shape._replace(hung=silent)) as bootstrap:
        part = {name: bench.run(name, bootstrap) for name in names}
    yield f"{shape.brokers} brokers, {shape.groups:,} groups, `--broker-timeout {BROKER_TIMEOUT:g}s`; one broker hangs:"
    yield ""
    yield "| command | s, all up | s, one hung | difference | groups or rows, all up | one hung | exit code |"
    yield "| --- | --: | --: | --: | --: | --: | --: |"
    for name in names:
        all_up, one = whole[name], part[name]
        counts = "- | -" if name == "check" else f"{all_up.items:,} | {one.items:,}"
        code = "-" if name == "exporter" else one.code
        yield (
            f"| `{name}` | {all_up.seconds:.1f} | {one.seconds:.1f} | {one.seconds - all_up.seconds:.1f} "
            f"| {counts} | {code} |"
        )


def behind_link(name: str, names: Sequence[str], divide: int, losses: Sequence[float]) -> Iterator[str]:
    """Measure commands on loopback, and behind a link without and with loss; yield a Markdown table."""
    shape = SHAPES[name]._replace(groups=SHAPES[name].groups // divide)
    inner = [sys.executable, "-m", "bench.scale", "--shape", name, "--divide", str(divide)]
    inner += [word for each in names for word in ("--only", each)]
    costs = [_inside(inner)]
    how = ""
    for loss in losses:
        say(f"link with {2 * DELAY * 1000:g} ms and {loss:.0%} loss")
        try:
            with link(DELAY, loss) as ends:
                how = ends.how
                client = " ".join(ends.within(ends.client))
                within = [*ends.within(ends.server), *inner, "--host", ends.address, "--client", client]
                costs.append(_inside(within))
        except Unavailable as error:
            yield f"Skipped; this machine does not permit it: {error}"
            return
    yield f"{shape.brokers} brokers, {shape.groups:,} groups, round trip of {2 * DELAY * 1000:g} ms; {how}:"
    yield ""
    yield "| command | requests | MB received | s on loopback |" + "".join(f" s, {loss:.0%} loss |" for loss in losses)
    yield "| --- |" + " --: |" * (3 + len(losses))
    for each in names:
        first, *_ = found = [cost[each] for cost in costs]
        seconds = "".join(f" {_seconds(each, shape, cost)} |" for cost in found)
        yield f"| `{each}` | {first.requests:,} | {first.received:.1f} |{seconds}"


def _seconds(name: str, shape: ClusterShape, cost: Cost) -> str:
    whole = not cost.code and expected(name, shape) in (None, cost.items)
    return f"{cost.seconds:.1f}" + ("" if whole else f" (exit code {cost.code}, {cost.items:,} groups or rows)")


def _inside(command: Sequence[str]) -> dict[str, Cost]:
    output = subprocess.run([*command, "--one"], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout
    return {name: Cost(*values) for name, values in json.loads(output).items()}


def main() -> int:
    """Measure what the options select, and print Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description="Costs as a simulated cluster grows.")
    parser.add_argument("--shape", choices=SHAPES, action="append", help="default: all; may be repeated")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: growth; may be repeated")
    parser.add_argument("--only", choices=COMMANDS, action="append", help="a command; may be repeated")
    parser.add_argument("--divide", type=int, default=1, help="divide the number of groups by this")
    parser.add_argument("--steps", type=int, default=4, help="number of sizes, each twice the previous one")
    parser.add_argument("--runs", type=int, default=1, help="runs per command and size")
    parser.add_argument("--loss", type=float, action="append", help="packet loss of the link; default: 0, 0.01")
    parser.add_argument("--kgroups", default=str(Path(sys.executable).with_name("kgroups")), help="path of kgroups")
    parser.add_argument("--host", default=LOOPBACK, help=argparse.SUPPRESS)
    parser.add_argument("--client", default="", help=argparse.SUPPRESS)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.only or list(COMMANDS)
    bench = Bench(given.kgroups, tuple(given.client.split()))
    for name in given.shape or SHAPES:
        shape = SHAPES[name]._replace(groups=SHAPES[name].groups // given.divide, host=given.host)
        if given.one:
            with simulated(shape) as bootstrap:
                print(json.dumps({each: bench.run(each, bootstrap) for each in names}))
            continue
        for part in given.part or ("growth",):
            lines = _part(part, name, shape, names, bench, given)
            print("\n".join(lines), end="\n\n", flush=True)
    return 0


def _part(
    part: str, name: str, shape: ClusterShape, names: Sequence[str], bench: Bench, given: argparse.Namespace
) -> Iterator[str]:
    if part == "growth":
        return growth(shape, names, given.steps, given.runs, bench)
    if part == "hung":
        return hung(shape, names, bench)
    return behind_link(name, names, given.divide, given.loss or (0.0, 0.01))


def say(text: str) -> None:
    """Report progress on stderr."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
