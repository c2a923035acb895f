"""``python bench/materialized.py``: questions to stores of few and of many entries, before and after materializing.

Writes the same generated commits, rebalances, and samples of log ends into a store for each number of entries, without
brokers. Measures whole commands, the stores in turn; then merges and materializes, and measures again. All answers for
one number of commits must be the same, whatever the number of entries: the printed rows, and, once materialized, a
checksum of all rows of each derived table; if one differs, the exit code is 1. Prints a section, and replaces it in a
file with ``--write``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT)

from bench.processes import Run, measure  # noqa: E402
from bench.spark_workers import with_section  # noqa: E402
from kgroups.history.arrow import arrow_schema, to_batch  # noqa: E402
from kgroups.history.load.manifest import BATCH, SWEEP, Entry  # noqa: E402
from kgroups.history.load.store import Identity, Store  # noqa: E402
from kgroups.history.tables import COMMITS, COVERAGE, GROUP_METADATA, HEADS, MEMBERS, SWEEPS, Table  # noqa: E402
from kgroups.history.transform.definitions import DERIVED  # noqa: E402
from kgroups.model.counts import count  # noqa: E402

HEADING = "## Materialized"
WORK = ROOT / ".bench" / "materialized"
END = datetime(2026, 11, 20, 12, tzinfo=UTC)
LOG_PARTITIONS, GROUPS, TOPICS, PARTITIONS = 50, 100, 10, 10
"""Ten groups read each topic."""
RATE = 20
"""Commits per second, one for each partition of a request: the log of more commits is longer, not denser."""
REBALANCES = timedelta(hours=1)
"""Between two rebalances of a group."""
SAMPLES = timedelta(minutes=1)
"""Between two samples of the log ends."""
GROWTH = 20
"""Records per second of each partition that the groups read."""
MEMBERS_EACH = 3

WRITTEN, MATERIALIZED = "as written", "materialized"
PREPARE, REPORT = "history materialize", "report, 24 hours"
UNTIL = ("--until", (END + timedelta(minutes=1)).isoformat())
QUESTIONS = {
    "stale": ("stale",),
    "lag, last hour": ("lag", "--since", (END - timedelta(hours=1)).isoformat()),
    **{name: ("show", name) for name in ("rebalances", "commit_rate", "verdicts", "anomalies")},
    "count in SQL": ("sql", "select count(*) from rebalances"),
    REPORT: ("report", "--since", (END - timedelta(hours=24)).isoformat(), "--force", "-o", str(WORK / "report.html")),
}
BEFORE = ("stale", "commit_rate")
"""What is asked before a store is merged and materialized, too."""
CHECKSUMS = " union all ".join(
    f"select '{name}' as name, count(*) as number, sum(hash(found)::hugeint)::varchar as checksum from {name} as found"
    for name in DERIVED
)


class Log(NamedTuple):
    """What is written to each store: rows in the order of time, and for rows of records the number of the record."""

    rows: dict[Table, pa.Table]
    record: dict[Table, Any]
    time: Any
    """Time of each record, in microseconds since 1970; then its place in the log."""
    log_partition: Any
    log_offset: Any


Runs = dict[tuple[int, int, str, str], list[Run]]
"""By number of commits, number of entries, state of the store, and question."""


def main() -> int:
    options = _options()
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    load = os.getloadavg()[0]
    measured: Runs = defaultdict(list)
    different: list[str] = []
    for commits in options.commits:
        different += _measure_size(commits, options.entries, options.runs, measured)
    text = _section(options.commits, options.entries, measured, different, load)
    print(text)
    if options.write:
        options.write.write_text(with_section(options.write.read_text(), HEADING, text))
    return 1 if different else 0


def _options() -> argparse.Namespace:
    def numbers(text: str) -> list[int]:
        return sorted(map(int, text.split(",")))

    parser = argparse.ArgumentParser(prog="python bench/materialized.py")
    parser.add_argument("--commits", type=numbers, default=[500_000], help="numbers of commits, separated by commas")
    parser.add_argument(
        "--entries", type=numbers, default=[40, 4_000], help="numbers of manifest entries, separated by commas"
    )
    parser.add_argument("--runs", type=int, default=1, help="number of rounds")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the section into FILE")
    return parser.parse_args()


def _measure_size(commits: int, entries: Sequence[int], runs: int, measured: Runs) -> list[str]:
    """Measure all stores of a number of commits; return what differs."""
    log = make_log(commits)
    stores = {number: WORK / f"{commits}-{number}" for number in entries}
    answers: dict[str, dict[str, str]] = defaultdict(dict)
    for number, store in stores.items():
        _say(f"{commits:,} commits: writing {number:,} entries")
        write_store(store, log, number)
    for state in (WRITTEN, MATERIALIZED):
        for number, store in stores.items() if state == MATERIALIZED else ():
            measured[commits, number, state, PREPARE].append(_run(store, ("materialize",))[0])
        for turn in range(runs):
            for name in QUESTIONS if state == MATERIALIZED else BEFORE:
                for number, store in stores.items():
                    _say(f"{commits:,} commits, {number:,} entries, {state}, round {turn + 1}: {name}")
                    run, answer = _run(store, (*QUESTIONS[name], *UNTIL))
                    measured[commits, number, state, name].append(run)
                    answers[name][f"{number:,} entries {state}"] = answer
        for number, store in stores.items() if state == MATERIALIZED else ():
            _, answer = _run(store, ("sql", CHECKSUMS, *UNTIL, "--sort", "name"))
            answers["all rows"][f"{number:,} entries {state}"] = answer
    for store in stores.values():
        shutil.rmtree(store)
    return [
        f"{commits:,} commits, {name}: {found}" for name, found in answers.items() if len(set(found.values())) > 1
    ]  # fmt: skip


def _run(store: Path, arguments: Sequence[str]) -> tuple[Run, str]:
    """Return what a command took, and a digest of what it answered."""
    command = (sys.executable, "-m", "kgroups", "history", *arguments, "--store", str(store))
    output, report = WORK / "answer", WORK / "report.html"
    report.unlink(missing_ok=True)
    run = measure(command, output, os.environ | {"PYTHONPATH": str(ROOT)})
    shown = report if report.exists() else output
    return run, hashlib.sha256(shown.read_bytes()).hexdigest()[:12]


# The log.


def make_log(commits: int) -> Log:
    """Return a log of this number of commits, and what was sampled meanwhile: the same for the same number."""
    end, length = _micros(END), commits * 1_000_000 // RATE
    begin = end - length
    requests = np.repeat(np.arange(commits // PARTITIONS), PARTITIONS)
    partition = np.tile(np.arange(PARTITIONS), commits // PARTITIONS)
    time = begin + requests * (PARTITIONS * 1_000_000 // RATE)
    rounds = np.arange(begin + 250_000, end, _micros_of(REBALANCES) // GROUPS)
    times = np.concatenate([time, rounds])
    order = np.argsort(times, kind="stable")
    record = np.empty(len(times), np.int64)
    record[order] = np.arange(len(times))
    group = np.concatenate([requests % GROUPS, np.arange(len(rounds)) % GROUPS])
    log_partition = (group % LOG_PARTITIONS)[order]
    log_offset = np.empty(len(times), np.int64)
    for each in range(LOG_PARTITIONS):
        places = np.flatnonzero(log_partition == each)
        log_offset[places] = np.arange(len(places))
    log = Log({}, {}, times[order], log_partition, log_offset)
    read = (time - begin) * GROWTH // 1_000_000
    behind = requests * 7_919 % 400 + np.where(requests % 5_003 == 0, 2_000, 0)  # now and then one goes back
    _add(
        log,
        COMMITS,
        record[: len(time)],
        group=group[: len(time)],
        topic=pa.array(_names("topic", TOPICS)).take(pa.array(group[: len(time)] % TOPICS)),
        partition=partition,
        committed_offset=np.maximum(read - behind, 0),
        metadata=pa.repeat("", len(time)),
        commit_time=_times(time),
        value_version=pa.repeat(4, len(time)),
    )
    states = record[len(time) :]
    generation = np.arange(len(rounds)) // GROUPS + 1
    leader = _members(group[len(time) :], generation, 0)
    _add(
        log,
        GROUP_METADATA,
        states,
        group=group[len(time) :],
        protocol_type=pa.repeat("consumer", len(rounds)),
        generation=generation,
        protocol=pa.repeat("range", len(rounds)),
        leader=leader,
        state_time=_times(rounds),
        member_count=pa.repeat(MEMBERS_EACH, len(rounds)),
    )
    which = np.tile(np.arange(MEMBERS_EACH), len(rounds))
    generations, groups = (np.repeat(each, MEMBERS_EACH) for each in (generation, group[len(time) :]))
    _add(
        log,
        MEMBERS,
        np.repeat(states, MEMBERS_EACH),
        group=groups,
        kind=pa.repeat("classic", len(which)),
        generation=generations,
        member_id=_members(groups, generations, which),
        client_id=pa.repeat("app", len(which)),
        client_host=pa.repeat("/10.0.0.1", len(which)),
    )
    samples = np.arange(begin, end, _micros_of(SAMPLES))
    every = TOPICS * PARTITIONS
    sampled = np.repeat(samples, every)
    heads = {
        "sampled_at": _times(sampled),
        "topic": pa.array(_names("topic", TOPICS)).take(
            pa.array(np.tile(np.arange(every) // PARTITIONS, len(samples)))
        ),
        "partition": np.tile(np.arange(every) % PARTITIONS, len(samples)),
        "log_start": pa.repeat(0, len(sampled)),
        "log_end": (sampled - begin) * GROWTH // 1_000_000,
    }
    log.rows[HEADS] = _table(HEADS, heads, len(sampled))
    log.record[HEADS] = np.searchsorted(log.time, sampled)
    return log


def _members(group: Any, generation: Any, which: Any) -> pa.Array:
    """Return the IDs of members: at each rebalance, one of them is replaced."""
    joined = (generation + which) // MEMBERS_EACH
    return pa.array([f"m-{a}-{b}" for a, b in zip(group, joined * MEMBERS_EACH + which, strict=True)])


def _add(log: Log, table: Table, record: Any, group: Any, **columns: Any) -> None:
    """Add the rows of records."""
    columns |= {
        "log_partition": log.log_partition[record],
        "log_offset": log.log_offset[record],
        "log_time": _times(log.time[record]),
        "group": pa.array(_names("group", GROUPS)).take(pa.array(group)),
        "tombstone": pa.repeat(False, len(record)),
    }
    log.rows[table] = _table(table, columns, len(record))
    log.record[table] = record


def _table(table: Table, columns: dict[str, Any], rows: int) -> pa.Table:
    schema = arrow_schema(table)
    arrays = [
        pa.array(columns[field.name]).cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema).combine_chunks()


def write_store(location: Path, log: Log, entries: int) -> None:
    """Write a log to a new store, in entries of about as many records."""
    store = Store(str(location))
    store.create(Identity("bench", "__consumer_offsets", "2026-11-01"))
    swept = {"swept_at": int(log.time[0]) - 1, "complete": True, "groups": 0, "offsets_retention_ms": 604_800_000}
    store.add(SWEEP, {SWEEPS: to_batch(SWEEPS, [swept])})
    bounds = np.arange(1, entries) * len(log.time) // (entries - 1)  # one entry is the sweep
    cuts = {table: [0, *np.searchsorted(record, bounds), len(record)] for table, record in log.record.items()}
    start, positions = 0, dict.fromkeys(range(LOG_PARTITIONS), 0)
    for number, stop in enumerate(bounds.tolist()):
        with store.writer() as writer:
            for table, places in cuts.items():
                part = log.rows[table].slice(places[number], places[number + 1] - places[number])
                for batch in part.to_batches() if part.num_rows else ():
                    writer.add(table, batch)
            writer.add(COVERAGE, to_batch(COVERAGE, list(_coverage(log, start, stop, positions))))
        store.commit(Entry(BATCH, writer.files, records=stop - start, positions=dict(positions)))
        start = stop


def _coverage(log: Log, start: int, stop: int, positions: dict[int, int]) -> Iterator[dict[str, Any]]:
    """Yield the ranges of some records, and advance the positions."""
    for partition in np.unique(log.log_partition[start:stop]).tolist():
        times = log.time[start:stop][log.log_partition[start:stop] == partition]
        first, positions[partition] = positions[partition], positions[partition] + len(times)
        yield {
            "sampled_at": int(log.time[stop - 1]) + 1_000_000,
            "log_partition": partition,
            "from_offset": first,
            "to_offset": positions[partition],
            "records": len(times),
            "first_time": int(times[0]),
            "last_time": int(times[-1]),
            "last_stable_offset": positions[partition],
            "high_watermark": positions[partition],
            "compacted": 0,
        }


def _names(prefix: str, number: int) -> list[str]:
    return [f"{prefix}-{each:03}" for each in range(number)]


def _times(micros: Any) -> pa.Array:
    return pa.array(micros).cast(pa.timestamp("us", tz="UTC"))


def _micros(time: datetime) -> int:
    return _micros_of(time - datetime(1970, 1, 1, tzinfo=UTC))


def _micros_of(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


# The section.


def _section(
    sizes: Sequence[int], entries: Sequence[int], measured: Runs, different: Sequence[str], load: float
) -> str:
    def median(commits: int, number: int, state: str, name: str) -> Run:
        runs = measured[commits, number, state, name]
        return Run(*(statistics.median(values) for values in zip(*runs, strict=True)))

    rounds = len(next(iter(measured.values())))
    lines = [
        HEADING,
        "",
        f"Written by `python bench/materialized.py {' '.join(sys.argv[1:])}`. {count(rounds, 'whole command')} each: "
        "median seconds, and CPU seconds in parentheses, of which ratios are; "
        f"{os.cpu_count()} cores, load average {load:.1f} before it began. {GROUPS} groups commit {RATE} times a "
        f"second on {PARTITIONS} partitions each, and rebalance every hour; the log ends are sampled every minute.",
        "",
        *(
            [f"**ANSWERS DIFFER**: {each}." for each in different]
            or ["Answers for one number of commits are the same; once materialized, all rows of all derived tables."]
        ),
    ]
    titles = [f"{commits:,} in {number:,}" for commits in sizes for number in entries]
    if len(entries) > 1:
        titles.append(f"{entries[-1]:,} against {entries[0]:,} entries")
    if len(sizes) > 1:
        titles.append(f"{sizes[-1]:,} against {sizes[0]:,} commits")
    for state in (WRITTEN, MATERIALIZED):
        lines += ["", f"### {'Neither merged nor materialized' if state == WRITTEN else 'Merged and materialized'}", ""]
        lines += [f"| commits in entries | {' | '.join(titles)} |", f"| --- {'| --: ' * len(titles)}|"]
        for name in (*QUESTIONS, PREPARE) if state == MATERIALIZED else BEFORE:
            runs = [median(commits, number, state, name) for commits in sizes for number in entries]
            cells = [f"{run.wall:.1f} ({run.cpu:.1f})" for run in runs]
            few = runs[-len(entries)].cpu
            cells += [f"{runs[-1].cpu / few:.2f}x"] * (len(entries) > 1)
            cells += [f"{few / runs[0].cpu:.1f}x"] * (len(sizes) > 1)
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join((*lines, ""))


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
