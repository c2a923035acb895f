"""Run the whole benchmark (clusters, queries, rounds), and print the report."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kgroups.errors import KgroupsError
from kgroups.sandbox import Sandbox

from .about import machine, notes
from .answers import Answer, answer
from .cluster import NAME, Size, ensure_cluster, take_down
from .lean import WORK, Lean, ensure_lean
from .processes import Failed, measure
from .questions import SHORT, Question, questions, start_up, wire_command
from .report import Measured, Part, report

DEFAULT_SIZES = (Size(2_000, 10), Size(10_000, 9))
PARTITIONS = 9
"""Partitions per group for a --groups without --partitions."""
NAMES = ("help", "describe-all", "describe-one", "list", "wire")
ANSWER = WORK / "answer"
NO_ANSWER = Answer(0, 0)


def main() -> int:
    options = _options()
    load = os.getloadavg()[0]
    lean = ensure_lean(_say)
    try:
        parts = list(_parts(options, lean))
        line = machine(Sandbox.load(NAME) if NAME in Sandbox.names() else None, lean, load)
    except (Failed, KgroupsError) as error:
        _say(f"FAILED: {error}")
        return 1
    finally:
        if not options.keep:
            take_down()
    command = shlex.join(["python", "bench/run.py", *sys.argv[1:]])
    text = report(parts, command=command, machine=line, notes=notes(), runs=options.runs)
    print(text)
    if options.write:
        options.write.write_text(text)
    return 0 if all(measured.same for part in parts for measured in part.measured) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python bench/run.py", description="Compare kgroups with other tools on one machine."
    )
    parser.add_argument(
        "--groups", type=int, action="append", default=[], help="number of groups of a cluster; may be repeated"
    )
    parser.add_argument(
        "--partitions", type=int, action="append", default=[], help="partitions per group; one for each --groups"
    )
    parser.add_argument("--runs", type=int, default=5, help="number of rounds, after a warm-up round")
    parser.add_argument("--only", action="append", choices=NAMES, help="measure only this; may be repeated")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the report to FILE")
    parser.add_argument("--keep", action="store_true", help="keep the brokers running for the next run")
    options = parser.parse_args()
    if len(options.partitions) > len(options.groups):
        parser.error("--partitions without its --groups")
    partitions = [*options.partitions, *[PARTITIONS] * len(options.groups)]
    options.sizes = [Size(*pair) for pair in zip(options.groups, partitions, strict=False)] or DEFAULT_SIZES
    return options


def _parts(options: argparse.Namespace, lean: Lean) -> Iterator[Part]:
    selected = set(options.only or NAMES)
    if "help" in selected:
        yield Part(None, [_measured(start_up(lean), options.runs)])
    for size in options.sizes if selected - {"help"} else ():
        sandbox = ensure_cluster(size, lean, _say)
        chosen = [question for question in questions(sandbox, size, lean) if question.name in selected]
        measured = [_measured(question, options.runs, f" of {size}") for question in chosen]
        yield Part(
            size, measured, _wire(wire_command(sandbox, lean), options.runs * SHORT) if "wire" in selected else ()
        )


def _measured(question: Question, runs: int, where: str = "") -> Measured:
    """Run the contenders in turn (A B C A B C), so that other load affects all of them, after a warm-up round."""
    measured = Measured(question)
    rounds = runs * question.often
    for number in range(rounds + 1):
        _say(f"{question.name}{where}: round {number} of {rounds}")
        for contender in question.contenders:
            run = measure(contender.command, ANSWER)
            if number:
                measured.runs[contender.name].append(run)
            measured.answers[contender.name].add(answer(ANSWER, contender.reader) if contender.reader else NO_ANSWER)
    return measured


def _wire(command: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    found = []
    for number in range(rounds + 1):
        _say(f"wire: round {number} of {rounds}")
        measure(command, ANSWER)
        found.append(json.loads(ANSWER.read_text()))
    return found[1:]


def _say(line: str) -> None:
    print(f"bench: {line}", file=sys.stderr, flush=True)
