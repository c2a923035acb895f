"""``kafka-streams-groups`` compared with the Java tool of that name: stdout byte by byte, except for the order, as in
:mod:`tests.integration.test_dropin`. Intended difference: failures set exit code 1.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from kgroups.dropins.streams_groups import TOOL
from tests.integration.dropin import keeps_sentences, run_tool
from tests.integration.dropin_table import rows
from tests.integration.java_output import JavaTool, ToolOutput
from tests.integration.streams_groups import BUSY, IDLE, TOPIC, StreamsGroups
from tests.integration.streams_table import ACTS, COMMAND_LINES, NEWER_QUESTIONS, QUESTIONS, REFUSED, RESETS
from tests.integration.test_dropin import Ran, agree, alike, complaint
from tests.integration.versions import followed

_CLASS = "org.apache.kafka.tools.streams.StreamsGroupCommand"
_WORDS = {"@busy": BUSY, "@idle": IDLE[0], "@other": IDLE[1], "@topic": TOPIC}
_FILES = {
    "@file3": f"{TOPIC},0,1\n{TOPIC},2,500\n",
    "@file4": f"{IDLE[0]},{TOPIC},0,1\n{IDLE[1]},{TOPIC},1,7\n",
}


def ours(*words: str) -> Ran:
    return run_tool(TOOL, *words)


def theirs(streams: StreamsGroups, *words: str) -> ToolOutput:
    return JavaTool(streams.sandbox.version.name, _CLASS).run(*words)


def expanded(streams: StreamsGroups, words: Iterable[str], folder: Path) -> list[str]:
    found = ["--bootstrap-server", streams.sandbox.bootstrap]
    for word in words:
        if word in _FILES:
            path = folder / word.removeprefix("@")
            path.write_text(_FILES[word])
            found.append(str(path))
        else:
            name, colon, rest = word.partition(":")
            found.append(_WORDS.get(name, name) + colon + rest)
    # Else it is 5 s, from before a JVM has loaded the classes that ask: on a busy machine that is too little.
    return found if "--timeout" in found else [*found, "--timeout", "60000"]


@followed
def test_command_lines_match_java(streams: StreamsGroups) -> None:
    def one(words: list[str]) -> tuple[object, object]:
        mine, other = ours(*words), theirs(streams, *words)
        return (mine.code, mine.out, complaint(mine.err)), (other.code, other.out, complaint(other.err))

    agree(COMMAND_LINES, one)
    assert ours("--help").err == theirs(streams, "--help").err


def reported(words: Iterable[str], text: str) -> object:
    """Normalize the order of groups, which differs between the tools."""
    single = sum(word in ("--group", "--all-groups") for word in words) == 1 and "--all-groups" not in words
    return alike(text) if single else sorted(text.split("\n"))


def test_questions_and_plans_match_java(streams: StreamsGroups, tmp_path: Path) -> None:
    def one(words: list[str]) -> tuple[object, object]:
        words = expanded(streams, words, tmp_path)
        mine, other = ours(*words), theirs(streams, *words)
        return (mine.code, reported(words, mine.out)), (other.code, reported(words, other.out))

    newer = "" if streams.sandbox.version.name == "4.3.1" else NEWER_QUESTIONS
    agree([*rows(QUESTIONS), *rows(newer)], one)
    agree([f"--reset-offsets {row}" for row in RESETS.strip().splitlines()], one)


def test_operations_match_java(streams: StreamsGroups, tmp_path: Path) -> None:
    """Each tool has its own groups for each row; their state afterward is equal, too."""
    table = ACTS.strip().splitlines()
    numbers = {row: at for at, row in enumerate(table)}
    streams.make_idle(*(name for row in table for side in "jk" for name in _actors(row, numbers[row], side).values()))

    tried: set[str] = set()

    def one(words: list[str]) -> tuple[object, object]:
        row = shlex.join(words)
        mine, other = _actors(row, numbers[row], "k"), _actors(row, numbers[row], "j")
        if row in tried:  # once more, from the beginning
            streams.make_idle(*mine.values(), *other.values())
        tried.add(row)
        return left(ours, words, mine), left(partial(theirs, streams), words, other)

    def left(run: Callable[..., ToolOutput | Ran], words: list[str], names: Mapping[str, str]) -> tuple[object, ...]:
        output = run(*expanded(streams, [_named(word, names) for word in words], tmp_path))
        there = sorted(set(streams.ask("list").lines).intersection(names.values()))
        committed = streams.committed(*there) if there else {}
        topics = streams.topics(*(f"{name}-store-changelog" for name in names.values()))
        plain = {name: place for place, name in names.items()}

        def unnamed(text: str) -> str:
            return re.sub("dropin-[0-9]+[jk]-[0-9]", lambda found: plain[found[0]], text)

        return output.code, alike(unnamed(output.out)), unnamed(str(committed)), unnamed(str(sorted(topics)))

    agree(table, one)


def _actors(row: str, number: int, side: str) -> dict[str, str]:
    """The groups of a row, by the word that stands for each."""
    return {place: f"dropin-{number}{side}-{place[1:]}" for place in ("@1", "@2") if place in row}


def _named(word: str, names: Mapping[str, str]) -> str:
    for place, name in names.items():
        word = word.replace(place, name)
    return word


@followed
def test_refused_operations_match_java(streams: StreamsGroups, tmp_path: Path) -> None:
    for row in REFUSED.strip().splitlines():
        words = expanded(streams, shlex.split(row), tmp_path)
        mine, other = ours(*words), theirs(streams, *words)
        keeps_sentences(row, mine, other)
        kept = re.sub(r"(?m)^(?:\n?Error: .*|\* Group .*)\n", "", other.out)
        good = [line for line in kept.splitlines() if line.strip()]
        assert not [line for line in good if line not in mine.out.splitlines()], (row, mine.out, other.out)


@followed
def test_unreachable_cluster_is_one_line_error(streams: StreamsGroups) -> None:
    words = ["--bootstrap-server", "127.0.0.1:1", "--list", "--timeout", "1000"]
    mine, other = ours(*words), theirs(streams, *words)
    assert "Error: Executing streams group command failed" in other.out
    assert (mine.code, mine.out.count("\n"), mine.err.count("\n")) == (1, 2, 1)
    keeps_sentences("--list", mine, other)
