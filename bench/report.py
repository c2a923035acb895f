"""What was measured, as Markdown: what had to be reached first, then every figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from .answers import Answer
from .processes import Run
from .questions import OURS, SHORT, Question, Target
from .world import Size

WIRE_TARGET = 4.0


@dataclass(slots=True)
class Measured:
    """A question, and by contender: every run, and every answer that was seen."""

    question: Question
    runs: dict[str, list[Run]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[str, set[Answer]] = field(default_factory=lambda: defaultdict(set))

    @property
    def same(self) -> bool:
        """Whether all contenders gave one and the same answer in all runs."""
        return len(set().union(*self.answers.values())) == 1

    @property
    def rows(self) -> int:
        """How many rows the answer has; the most, where they differ."""
        return max(said.rows for answers in self.answers.values() for said in answers)

    def ratios(self, peer: str) -> list[float]:
        """How many times kgroups' time the peer took, round by round."""
        pairs = zip(self.runs[peer], self.runs[OURS], strict=True)
        return [theirs.wall / ours.wall for theirs, ours in pairs]


class Part(NamedTuple):
    """What was measured on one world; ``size`` is ``None`` for what needs none. ``wire`` is what wire.py printed."""

    size: Size | None
    measured: Sequence[Measured]
    wire: Sequence[dict[str, Any]] = ()


class Verdict(NamedTuple):
    what: str
    target: str
    measured: str
    met: bool


def report(parts: Sequence[Part], *, command: str, machine: str, notes: str, runs: int) -> str:
    verdicts = list(_verdicts(parts))
    blocks = [
        "# How fast kgroups is",
        f"Written by `{command}`: {runs} rounds of describe-all, {runs * SHORT} of everything shorter, "
        f"the contenders in turn, after one round that does not count. {machine}",
        *(_alarms(parts)),
        "## What had to be reached",
        _table(
            ("", "target", "measured", ""),
            [(*verdict[:3], "met" if verdict.met else "**missed**") for verdict in verdicts],
        ),
        *(block for part in parts for block in _part(part)),
        notes,
    ]
    return "\n\n".join(blocks) + "\n"


# What had to be reached.


def _verdicts(parts: Sequence[Part]) -> Iterator[Verdict]:
    for part in parts:
        where = f", {part.size}" if part.size else ""
        for measured in part.measured:
            for target in measured.question.targets:
                yield _speed(measured, target, where)
            if measured.question.rss_target:
                yield _memory(measured, measured.question.rss_target, where)
        if part.wire:
            ratio = median(run["fetch_wall"] / run["floor_wall"] for run in part.wire)
            what = f"fetch and decode, against the raw floor{where}"
            yield Verdict(what, f"{WIRE_TARGET:g}x or less", f"{ratio:.1f}x", ratio <= WIRE_TARGET)
    yield from _growth(parts)


def _speed(measured: Measured, target: Target, where: str) -> Verdict:
    ratio = median(measured.ratios(target.peer))
    what = f"{measured.question.name}{where}, against {target.peer}"
    if target.times < 1:
        allowed, taken = 1 / target.times, 1 / ratio
        return Verdict(what, f"less than {allowed:g}x its time", f"{taken:.2f}x", taken < allowed)
    return Verdict(what, f"{target.times:g}x as fast", f"{ratio:.1f}x", ratio >= target.times)


def _memory(measured: Measured, allowed: int, where: str) -> Verdict:
    peak = max(run.rss for run in measured.runs[OURS])
    return Verdict(
        f"{measured.question.name}{where}, peak memory", f"under {_mb(allowed)} MB", f"{_mb(peak)} MB", peak < allowed
    )


def _growth(parts: Sequence[Part]) -> Iterator[Verdict]:
    """Time may grow with the rows, and no faster: compared from each size to the next."""
    costs = [
        (part.size, median(run.wall for run in measured.runs[OURS]) / part.size.rows * 1e6)
        for part in parts
        if part.size
        for measured in part.measured
        if measured.question.name == "describe-all"
    ]
    costs.sort()
    for (smaller, before), (larger, after) in pairwise(costs):
        what = f"describe-all, time per row, {smaller.rows:,} rows to {larger.rows:,}"
        yield Verdict(what, "not growing", f"{before:.1f} µs to {after:.1f} µs", after <= before)


# Every figure.


def _alarms(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        for measured in part.measured:
            if not measured.same:
                rows = {name: sorted({said.rows for said in answers}) for name, answers in measured.answers.items()}
                yield f"**THE ANSWERS DIFFER** in {measured.question.name}, {part.size}: rows are {rows}."
            elif part.size and measured.question.name == "describe-all" and measured.rows != part.size.rows:
                yield f"**ANOTHER WORLD**: {part.size} should give {part.size.rows:,} rows, not {measured.rows:,}."
        if failures := max((run["failures"] for run in part.wire), default=0):
            yield f"**THE ANSWER HAS HOLES** in wire, {part.size}: {failures} failures."


def _part(part: Part) -> Iterator[str]:
    yield f"## {part.size}" if part.size else "## Start-up"
    for measured in part.measured:
        yield f"### {measured.question.title}"
        yield _table(
            ("", "seconds: min / median / max", "CPU seconds", "peak MB", "against kgroups: median (min to max)"),
            [_figures(measured, contender.name) for contender in measured.question.contenders],
        )
        if measured.rows and measured.same:
            yield f"The same {measured.rows:,} rows from each."
    if part.wire:
        yield "### The wire's share"
        yield _wire(part.wire)


def _figures(measured: Measured, name: str) -> tuple[str, ...]:
    runs = measured.runs[name]
    ratios = measured.ratios(name)
    against = "" if name == OURS else f"{median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})"
    cpu, peak = median(run.cpu for run in runs), max(run.rss for run in runs)
    return (name, _spread([run.wall for run in runs]), f"{cpu:.2f}", _mb(peak), against)


def _wire(runs: Sequence[dict[str, Any]]) -> str:
    def spread(key: str) -> str:
        return _spread([run[key] for run in runs])

    def middle(value: Callable[[dict[str, Any]], float]) -> float:
        return median(map(value, runs))

    ratios = [run["fetch_wall"] / run["floor_wall"] for run in runs]
    table = _table(
        ("", "seconds: min / median / max", "CPU seconds"),
        [
            ("fetched and decoded by kgroups", spread("fetch_wall"), f"{middle(lambda run: run['fetch_cpu']):.2f}"),
            ("floor: read and forgotten", spread("floor_wall"), f"{middle(lambda run: run['floor_cpu']):.2f}"),
        ],
    )
    last = runs[-1]
    return (
        f"{table}\n\nThe same {last['requests']} requests, {last['bytes'] / 1e6:.1f} MB of answers, "
        f"{last['rows']:,} commits: {median(ratios):.2f}x the floor ({min(ratios):.2f} to {max(ratios):.2f})."
    )


def _spread(values: Sequence[float]) -> str:
    return f"{min(values):.3f} / {median(values):.3f} / {max(values):.3f}"


def _mb(count: float) -> str:
    return f"{count / 1e6:.0f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
