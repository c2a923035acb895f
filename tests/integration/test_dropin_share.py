"""``kafka-share-groups`` compared with the Java tool of that name: stdout byte by byte, as in ``test_dropin``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.integration.dropin import Ran, agree, alike, complaint, keeps_sentences, ours, process, theirs
from tests.integration.dropin_share_table import (
    ACTS,
    COMMAND_LINES,
    ERRORS,
    NEWER_ACTS,
    NEWER_COMMAND_LINES,
    NEWER_ERRORS,
    NEWER_RESETS,
    QUESTIONS,
    RESETS,
    UNREACHABLE,
)
from tests.integration.dropin_table import rows
from tests.integration.java_output import ToolOutput
from tests.integration.share_groups import CLASSIC, IDLE, LIVE, LOG, MORE, SHARE, ShareGroups
from tests.integration.versions import followed, on

TOOL = "kafka-share-groups"

DIFFERENCES = {
    "missing_group": (
        "If a group does not exist, or is no share group, the exit code is 0, and none of the others is shown; ours "
        "exits 1, and shows the others."
    ),
    "unreachable_cluster": "If no broker can be reached, the exit code is 0, ours 1; ours names the broker on stderr.",
    "failed_deletion": "If something cannot be deleted, the exit code is 0, ours 1. Stdout is the same.",
    "uninitialized_partition": (
        "--to-current fails if a partition of the group has no start offset yet; ours plans its log end offset."
    ),
    "not_a_share_group": "A dry run plans for groups that are no share groups too; ours refuses them.",
    "invalid_values": "A time, topic or partition that cannot be, or a second group: exit 0; ours exit 1.",
}


def words_of(share_groups: ShareGroups, *words: str, folder: Path | None = None) -> list[str]:
    named = [part for name in SHARE for part in ("--group", name)]
    expanded = [part for word in words for part in (named if word == "@all" else (word,))]
    for word, group in {"@file3": "", "@file4": f"{LIVE},"}.items():
        if folder and word in expanded:
            plan = folder / f"{word[1:]}.csv"
            plan.write_text("".join(f"{group}{row}\n" for row in (f"{LOG},0,4", f"{LOG},2,100000", f"{MORE},0,1")))
            expanded[expanded.index(word)] = str(plan)
    # Else it is 5 s, from before a JVM has loaded the classes that ask: on a busy machine that is too little.
    patient = () if "--timeout" in words else ("--timeout", "60000")
    return ["--bootstrap-server", share_groups.sandbox.bootstrap, *expanded, *patient]


@followed
def test_command_lines_match_java(share_groups: ShareGroups) -> None:
    def one(words: list[str]) -> tuple[object, object]:
        mine, other = ours(TOOL, *words), theirs(TOOL, *words)
        return (mine.code, mine.out, complaint(mine.err)), (other.code, other.out, complaint(other.err))

    agree(rows_for(share_groups, COMMAND_LINES, NEWER_COMMAND_LINES), one)


@followed
def test_usage_matches_java(share_groups: ShareGroups) -> None:
    """On stderr, and byte for byte all the same."""
    assert ours(TOOL, "--help").err == theirs(TOOL, "--help").err


def test_questions_match_java(share_groups: ShareGroups) -> None:
    def one(words: list[str]) -> tuple[object, object]:
        words = words_of(share_groups, *words)
        mine, other = ours(TOOL, *words), theirs(TOOL, *words)
        return (mine.code, alike(mine.out), remarks(mine)), (other.code, alike(other.out), remarks(other))

    agree(QUESTIONS, one)


def remarks(message: ToolOutput | Ran) -> list[str]:
    """Return the remarks on stderr about empty groups."""
    return sorted(re.findall(r"(?m)^Share group '.*' has no active members\.$", message.err))


def test_resets_match_java(share_groups: ShareGroups, tmp_path: Path) -> None:
    def one(words: list[str]) -> tuple[object, object]:
        words = words_of(share_groups, "--reset-offsets", *words, folder=tmp_path)
        mine, other = ours(TOOL, *words), theirs(TOOL, *words)
        return (mine.code, alike(mine.out)), (other.code, alike(other.out))

    agree(rows_for(share_groups, RESETS, NEWER_RESETS), one)


def rows_for(share_groups: ShareGroups, table: str, newer: str) -> list[str]:
    """Return the rows of a table, and from Kafka 4.4 on those of a newer one."""
    return rows(table) + ([] if share_groups.sandbox.version.name == "4.3.1" else rows(newer))


def test_operations_match_java(share_groups: ShareGroups, tmp_path: Path) -> None:
    """Each tool gets new groups; their start offsets afterward are equal, too."""

    def one(words: list[str]) -> tuple[object, object]:
        names = [name for name in words if name.startswith("sharing-")]
        words = words_of(share_groups, *words, folder=tmp_path)
        other = left(share_groups, names, lambda: theirs(TOOL, *words))
        return left(share_groups, names, lambda: ours(TOOL, *words)), other

    agree(rows_for(share_groups, ACTS, NEWER_ACTS), one)


def left(share_groups: ShareGroups, names: Iterable[str], run: Callable[[], ToolOutput | Ran]) -> tuple[object, ...]:
    """Return the output of a run and the groups' offsets after it."""
    there = [name for name in names if name != "sharing-new"]
    share_groups.start({name: {LOG: {0: 5, 1: 5}, MORE: {0: 2}} for name in there})
    output = run()
    found = share_groups.ask("describe", *names, "-o", "json")
    starts = sorted((row["group"], row["topic"], row["partition"], row["start_offset"]) for row in found.items)
    ours(TOOL, *words_of(share_groups, "--delete", *(part for name in names for part in ("--group", name))))
    return output.code, alike(output.out), starts, sorted(failure["name"] for failure in found.failures)


@followed
@pytest.mark.parametrize("row", ["--list", "--describe --all-groups --verbose", "--list --group g"])
def test_drop_in_process_matches_java(share_groups: ShareGroups, row: str) -> None:
    words = words_of(share_groups, *shlex.split(row))
    mine, other = process(TOOL, *words), theirs(TOOL, *words)
    assert (mine.code, alike(mine.out)) == (other.code, alike(other.out))


@followed
def test_error_sentences_match_java(share_groups: ShareGroups, tmp_path: Path) -> None:
    for row in rows_for(share_groups, ERRORS, NEWER_ERRORS):
        words = words_of(share_groups, *shlex.split(row), folder=tmp_path)
        keeps_sentences(row, ours(TOOL, *words), theirs(TOOL, *words))
    for row in rows(UNREACHABLE):
        words = ["--bootstrap-server", "127.0.0.1:1", *shlex.split(row), "--timeout", "1000"]
        keeps_sentences(row, ours(TOOL, *words), theirs(TOOL, *words))


# The differences.


def test_every_difference_has_a_test() -> None:
    assert {f"test_difference_{name}" for name in DIFFERENCES} <= set(globals())


def ask_both(share_groups: ShareGroups, row: str) -> tuple[Ran, ToolOutput]:
    words = words_of(share_groups, *shlex.split(row))
    return ours(TOOL, *words), theirs(TOOL, *words)


@followed
@pytest.mark.parametrize("name", ["sharers-nobody", CLASSIC])
def test_difference_missing_group(share_groups: ShareGroups, name: str) -> None:
    for view in ("", "--members", "--state"):
        mine, other = ask_both(share_groups, f"--describe --group {LIVE} --group {name} {view}")
        assert (other.code, LIVE in other.out) == (0, False)
        assert "GroupIdNotFoundException" in other.out
        assert mine.code == 1
        keeps_sentences(view, mine, other)
        alone, _ = ask_both(share_groups, f"--describe --group {LIVE} {view}")
        assert alone.code == 0 and mine.out.startswith(alone.out)


@followed
def test_difference_unreachable_cluster(share_groups: ShareGroups) -> None:
    words = ["--bootstrap-server", "127.0.0.1:1", "--list", "--timeout", "1000"]
    mine, other = ours(TOOL, *words), theirs(TOOL, *words)
    assert (other.code, other.out[:37]) == (0, "\nError: Executing share group command")
    assert (mine.code, mine.out.count("\n"), mine.err.count("\n")) == (1, 2, 1)
    keeps_sentences("--list", mine, other)


@followed
@pytest.mark.parametrize(
    "row",
    [
        f"--delete --group {LIVE} --group sharers-nobody --group {CLASSIC}",
        f"--delete-offsets --group {LIVE} --topic {LOG}",
        f"--delete-offsets --group sharers-nobody --topic {LOG}",
        f"--delete-offsets --group {CLASSIC} --topic {LOG}",
        f"--delete-offsets --group {IDLE} --topic {LOG}:0 --topic sharers-nothing",
        "--delete-offsets --group 'sharers-ahead with a name, in which there are blanks' --topic sharers-more",
    ],
)
def test_difference_failed_deletion(share_groups: ShareGroups, row: str) -> None:
    mine, other = ask_both(share_groups, row)
    assert (other.code, mine.code) == (0, 1)
    assert alike(mine.out) == alike(other.out)


@on("4.4.0")
def test_difference_uninitialized_partition(share_groups: ShareGroups) -> None:
    mine, other = ask_both(share_groups, f"--reset-offsets --group {IDLE} --topic {LOG} --to-current --dry-run")
    assert (other.code, "NullPointerException" in other.err) == (0, True)
    assert (mine.code, mine.out.splitlines()[-1].split()) == (0, [IDLE, LOG, "2", "0"])


@followed
def test_difference_not_a_share_group(share_groups: ShareGroups) -> None:
    mine, other = ask_both(share_groups, f"--reset-offsets --group {CLASSIC} --topic {LOG} --to-latest --dry-run")
    assert (other.code, CLASSIC in other.out) == (0, True)
    assert (mine.code, mine.out.count("\n")) == (1, 2)
    assert f"Group {CLASSIC} is not a share group." in mine.out


@followed
@pytest.mark.parametrize(
    "row",
    [
        f"--reset-offsets --group {IDLE} --all-topics --to-datetime yesterday --dry-run",
        f"--reset-offsets --group {IDLE} --topic no-such-topic --to-latest --dry-run",
        f"--reset-offsets --group {IDLE} --topic {LOG}:99 --to-latest --dry-run",
        f"--reset-offsets --group {IDLE} --group {LIVE} --topic {LOG} --to-latest --dry-run",
        f"--delete-offsets --group {IDLE} --group {LIVE} --topic {LOG}",
    ],
)
def test_difference_invalid_values(share_groups: ShareGroups, row: str) -> None:
    mine, other = ask_both(share_groups, row)
    assert (other.code, "Error: " in other.out) == (0, True)
    keeps_sentences(row, mine, other)


def test_members_are_not_overtaken(share_groups: ShareGroups) -> None:
    mine, other = ask_both(share_groups, f"--reset-offsets --group {LIVE} --topic {LOG} --to-earliest --execute")
    assert (mine.code, mine.out) == (other.code, other.out) == (1, "")
    assert f"Share group '{LIVE}' is not empty." in other.err
    # A client of an earlier row may still log that it reaches no broker.
    assert mine.err.splitlines() == [line for line in other.err.splitlines() if not line.startswith("[")]


def test_tables_are_long() -> None:
    assert sum(len(set(rows(table))) for table in (COMMAND_LINES, QUESTIONS, RESETS, ACTS)) >= 80
