"""``kafka-consumer-groups`` and ``kafka-groups`` compared with the Java tools of those names: stdout byte by byte.

What is made alike first, and nothing else: the order of lines within a table or a list, and of names that a sentence
lists. In all rows of the table the exit codes are the same too. Where the two differ on purpose, :data:`DIFFERENCES`
says so, and a test shows it.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import pytest

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.seed_data import DELETED_TOPIC
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from tests.integration.dropin import Ran, agree, alike, complaint, keeps_sentences, ours, process, theirs
from tests.integration.dropin_table import (
    ACTS,
    COMMAND_LINES,
    ERRORS,
    GROUPS_COMMAND_LINES,
    GROUPS_QUESTIONS,
    OLD,
    QUESTIONS,
    RESETS,
    UNREACHABLE,
    Text,
    rows,
)
from tests.integration.java_output import ToolOutput
from tests.integration.known_cluster import KnownCluster
from tests.integration.transient_groups import TransientGroups
from tests.integration.versions import FOLLOWED, followed, on

DIFFERENCES = {
    "missing_group": (
        "The Java tool says that a group does not exist, exits 0, and then shows none of the others. Ours says it, "
        "exits 1, and shows the others."
    ),
    "unreachable_cluster": "If no broker can be reached, the exit code is 0, ours 1; ours names the broker on stderr.",
    "other_group_types": "A group that is not of consumers takes all others with it too.",
    "deleted_topic": (
        "A group with partitions of a deleted topic takes all groups with it; ours shows it, with - for what is not "
        "known."
    ),
    "active_groups": (
        "If offsets of a group with members are not reset, the exit code is 0, ours 1. Stdout is the same."
    ),
    "failed_deletion": "The same of groups that cannot be deleted, and of offsets that cannot.",
    "invalid_values": (
        "A time, duration, number or file that cannot be, and a topic or partition that does not exist: exit 0; ours "
        "exit 1, and before the cluster is asked where that can be."
    ),
    "states_of_older_brokers": "Below Kafka 2.6 the Java tool knows no states; ours describes the groups to know.",
}

OPAQUE, DELETED = "connect-like", "billing-deleted-topic"
COMPARED = ("2.8.2", "3.9.1", *FOLLOWED)


# Command lines.


@followed
@pytest.mark.parametrize(
    ("tool", "table"),
    [("kafka-consumer-groups", COMMAND_LINES), ("kafka-groups", GROUPS_COMMAND_LINES)],
    ids=["kafka-consumer-groups", "kafka-groups"],
)
def test_command_lines_match_java(known_cluster: KnownCluster, tool: str, table: str) -> None:
    def one(words: list[str]) -> tuple[object, object]:
        mine, other = ours(tool, *words), theirs(tool, *words)
        return (mine.code, mine.out, complaint(mine.err)), (other.code, other.out, complaint(other.err))

    agree(table, one)


@followed
@pytest.mark.parametrize("tool", ["kafka-consumer-groups", "kafka-groups"])
def test_usage_matches_java(known_cluster: KnownCluster, tool: str) -> None:
    """On stderr, and byte for byte all the same."""
    assert ours(tool, "--help").err == theirs(tool, "--help").err


# Questions.


def expanded(
    known_cluster: KnownCluster, transient_groups: TransientGroups, words: Iterable[str], folder: Path | None = None
) -> list[str]:
    everyone = [*(name for name in known_cluster.groups if name not in (OPAQUE, DELETED)), *transient_groups.groups]
    if not known_cluster.since("2.5"):
        everyone = everyone[:1]
    found: list[str] = []
    for word in words:
        if word == "@all":
            found += [part for name in everyone for part in ("--group", name)]
        elif word in ("@file3", "@file4"):
            assert folder
            path = folder / word.removeprefix("@")
            path.write_text(getattr(Text(), path.name))
            found.append(str(path))
        else:
            found.append(word)
    return found


@on(*COMPARED)
def test_questions_match_java(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    """The newest tool on brokers of all three; on old ones the rows that they can answer."""
    table = [row for row in rows(QUESTIONS) if known_cluster.version in FOLLOWED or _for_old(row)]

    def one(words: list[str]) -> tuple[object, object]:
        words = [
            "--bootstrap-server",
            known_cluster.sandbox.bootstrap,
            *expanded(known_cluster, transient_groups, words),
        ]
        mine, other = ours("kafka-consumer-groups", *words), theirs("kafka-consumer-groups", *words)
        return (mine.code, alike(mine.out), remarks(mine)), (other.code, alike(other.out), remarks(other))

    agree(table, one)


def _for_old(row: str) -> bool:
    """Return whether brokers 3.9.1 and 2.8.2 support the row. --verbose adds to the output."""
    return row in ("--list", "--describe @all") or ("@all" in row and "--verbose" in row)


def remarks(message: ToolOutput | Ran) -> list[str]:
    """Return the remarks on stderr about empty and rebalancing groups."""
    ends = r"(?:has no active members|is rebalancing)\."
    return sorted(re.findall(f"(?m)^(?:Warning: )?Consumer group '.*' {ends}$", message.err))


@on("2.8.2", "3.9.1")
def test_questions_match_older_java_tools(
    known_cluster: KnownCluster, transient_groups: TransientGroups, tmp_path: Path
) -> None:
    """The tools of 3.9.1 and 2.8.2 on their own brokers. They pad and break lines otherwise, and leave cells empty
    where the newest writes ``-``: what is compared is which words there are, and how often."""

    def bag(text: str) -> list[str]:
        return sorted(word for word in text.split() if word != "-")

    def one(words: list[str]) -> tuple[object, object]:
        words = [
            "--bootstrap-server",
            known_cluster.sandbox.bootstrap,
            *expanded(known_cluster, transient_groups, words, tmp_path),
        ]
        mine = ours("kafka-consumer-groups", *words)
        other = theirs("kafka-consumer-groups", *words, version=known_cluster.version)
        return (mine.code, bag(mine.out)), (other.code, bag(other.out))

    agree(OLD, one)


@followed
def test_kafka_groups_questions_match_java(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    def one(words: list[str]) -> tuple[object, object]:
        words = ["--bootstrap-server", known_cluster.sandbox.bootstrap, *words]
        mine, other = ours("kafka-groups", *words), theirs("kafka-groups", *words)
        return (mine.code, alike(mine.out)), (other.code, alike(other.out))

    agree(GROUPS_QUESTIONS, one)


# Acts.


@followed
def test_resets_match_java(known_cluster: KnownCluster, transient_groups: TransientGroups, tmp_path: Path) -> None:
    def one(words: list[str]) -> tuple[object, object]:
        words = ["--bootstrap-server", known_cluster.sandbox.bootstrap, "--reset-offsets", *words]
        words = expanded(known_cluster, transient_groups, words, tmp_path)
        mine, other = ours("kafka-consumer-groups", *words), theirs("kafka-consumer-groups", *words)
        return (mine.code, alike(mine.out)), (other.code, alike(other.out))

    agree(RESETS, one)


@on(*COMPARED)
def test_operations_match_java(known_cluster: KnownCluster, transient_groups: TransientGroups, tmp_path: Path) -> None:
    """The newest tool on brokers of all three. The groups are created again for each side, and have the
    same commits afterward."""

    def one(words: list[str]) -> tuple[object, object]:
        words = expanded(
            known_cluster, transient_groups, ["--bootstrap-server", known_cluster.sandbox.bootstrap, *words], tmp_path
        )
        names = [name for name in words if name.startswith("dropin-")]
        named = [word for name in names for word in ("--group", name)]

        def left(message: ToolOutput | Ran) -> tuple[object, ...]:
            answer = ours(
                "kafka-consumer-groups", "--bootstrap-server", known_cluster.sandbox.bootstrap, "--describe", *named
            )
            return (message.code, alike(message.out), answer.out)

        make_groups(known_cluster, names)
        other = left(theirs("kafka-consumer-groups", *words))
        make_groups(known_cluster, names)
        return left(ours("kafka-consumer-groups", *words)), other

    agree(ACTS, one)


def make_groups(known_cluster: KnownCluster, names: Iterable[str]) -> None:
    async def make() -> None:
        cluster, _ = await Cluster.connect(ClientSettings(parse_bootstrap(known_cluster.sandbox.bootstrap)))
        async with cluster:
            route = await CoordinatorClient.to(cluster, names)
            for name in names:
                commit = OffsetCommit(name, {"payments": {0: 10, 1: 20, 2: 30}, "clicks": {0: 50}})
                assert await route.call(name, commit) is None

    asyncio.run(make())


# Errors.


@followed
def test_error_sentences_match_java(
    known_cluster: KnownCluster, transient_groups: TransientGroups, tmp_path: Path
) -> None:
    for row in rows(ERRORS):
        words = expanded(known_cluster, transient_groups, shlex.split(row), tmp_path)
        mine, other = ask_both(known_cluster, shlex.join(words))
        keeps_sentences(row, mine, other)


@followed
@pytest.mark.parametrize("address", ["127.0.0.1:1", "no-such-host.invalid:9092"])
def test_unreachable_cluster_sentences_match_java(known_cluster: KnownCluster, address: str) -> None:
    for row in rows(UNREACHABLE):
        words = ["--bootstrap-server", address, *shlex.split(row), "--timeout", "1000"]
        keeps_sentences(row, ours("kafka-consumer-groups", *words), theirs("kafka-consumer-groups", *words))


@followed
@pytest.mark.parametrize(
    "row", ["--list --protocol a --protocol b", "--list --bootstrap-server no-such-host.invalid:1"]
)
def test_kafka_groups_error_sentences_match_java(known_cluster: KnownCluster, row: str) -> None:
    """It has no time limit, so that a cluster that does not respond is not compared."""
    words = shlex.split(row)
    words = words if "--bootstrap-server" in words else ["--bootstrap-server", known_cluster.sandbox.bootstrap, *words]
    keeps_sentences(row, ours("kafka-groups", *words), theirs("kafka-groups", *words))


# As processes.


@followed
@pytest.mark.parametrize(
    ("tool", "row"),
    [
        ("kafka-consumer-groups", "--list"),
        ("kafka-consumer-groups", "--list --state --type"),
        ("kafka-consumer-groups", "--describe --group orders-range --group payments-empty"),
        ("kafka-consumer-groups", "--describe --group orders-static --members --verbose"),
        ("kafka-consumer-groups", "--describe --all-groups --state"),
        ("kafka-consumer-groups", "--list --group g"),
        ("kafka-groups", "--list"),
    ],
)
def test_drop_in_process_matches_java(
    known_cluster: KnownCluster, transient_groups: TransientGroups, tool: str, row: str
) -> None:
    words = ["--bootstrap-server", known_cluster.sandbox.bootstrap, *shlex.split(row)]
    mine, other = process(tool, *words), theirs(tool, *words)
    assert (mine.code, alike(mine.out)) == (other.code, alike(other.out))


# The differences.


def test_every_difference_has_a_test() -> None:
    assert {f"test_difference_{name}" for name in DIFFERENCES} <= set(globals())


def ask_both(known_cluster: KnownCluster, row: str) -> tuple[Ran, ToolOutput]:
    words = ["--bootstrap-server", known_cluster.sandbox.bootstrap, *shlex.split(row)]
    return ours("kafka-consumer-groups", *words), theirs("kafka-consumer-groups", *words)


@followed
def test_difference_missing_group(known_cluster: KnownCluster) -> None:
    for view in ("", "--members", "--state"):
        mine, other = ask_both(known_cluster, f"--describe --group payments-empty --group no-such-group {view}")
        assert (other.code, "payments-empty" in other.out) == (0, False)
        assert "GroupIdNotFoundException: Group no-such-group not found." in other.out
        keeps_sentences(view, mine, other)
        alone, _ = ask_both(known_cluster, f"--describe --group payments-empty {view}")
        assert (alone.code, mine.out) == (0, alone.out + without_stack(other.out))


@followed
def test_difference_unreachable_cluster(known_cluster: KnownCluster) -> None:
    words = ["--bootstrap-server", "127.0.0.1:1", "--list", "--timeout", "1000"]
    mine, other = ours("kafka-consumer-groups", *words), theirs("kafka-consumer-groups", *words)
    assert (other.code, other.out[:40]) == (0, "\nError: Executing consumer group command")
    assert (mine.code, mine.out) == (1, without_stack(other.out))
    assert mine.err == "Error: no bootstrap server responded: 127.0.0.1:1: connection refused\n"


@followed
def test_difference_other_group_types(known_cluster: KnownCluster) -> None:
    mine, other = ask_both(known_cluster, f"--describe --group payments-empty --group {OPAQUE} --state")
    assert (other.code, "payments-empty" in other.out) == (0, False)
    assert "is not a consumer group" in other.out
    assert (mine.code, "payments-empty" in mine.out) == (1, True)
    keeps_sentences(OPAQUE, mine, other)


@followed
def test_difference_deleted_topic(known_cluster: KnownCluster) -> None:
    mine, other = ask_both(known_cluster, "--describe --all-groups")
    assert (other.code, "UnknownTopicOrPartitionException" in other.out, "payments" in other.out) == (0, True, False)
    assert mine.code == 1
    assert f"Error: topic '{DELETED_TOPIC}': the topic or partition does not exist" in mine.err
    (row,) = (line for line in mine.out.splitlines() if line.split()[:3] == [DELETED, DELETED_TOPIC, "0"])
    assert row.split()[3:6] == ["-", "-", "-"]
    assert "payments-empty" in mine.out


def without_stack(text: str) -> str:
    """Return the sentence at the beginning of Java's stdout."""
    return "".join(text.splitlines(keepends=True)[:2])


@followed
def test_difference_active_groups(known_cluster: KnownCluster) -> None:
    for row in (
        "--reset-offsets --group orders-range --all-topics --to-earliest --dry-run",
        "--reset-offsets --group orders-range --group payments-empty --all-topics --to-earliest --dry-run",
        "--reset-offsets --group orders-range --group payments-empty --all-topics --to-earliest --dry-run --export",
        "--reset-offsets --all-groups --topic clicks --to-latest --dry-run",
    ):
        mine, other = ask_both(known_cluster, row)
        output = (
            "\nError: Assignments can only be reset if the group 'orders-range' is inactive, but the current state is"
        )
        assert (other.code, output in other.out) == (0, True)
        assert (mine.code, sorted(mine.out.splitlines())) == (1, sorted(other.out.splitlines()))


@followed
def test_difference_failed_deletion(known_cluster: KnownCluster) -> None:
    for row, answer in (
        ("--delete --group orders-range --group no-such-group", "* Group 'orders-range' could not be deleted due to:"),
        ("--delete-offsets --group orders-range --topic orders", "\nError: Encountered some partition-level error, "),
        ("--delete-offsets --group no-such-group --topic orders:0", "\nError: The group id does not exist.\n"),
        ("--delete-offsets --group payments-empty --topic no-such-topic", ""),
    ):
        mine, other = ask_both(known_cluster, row)
        assert (other.code, answer in other.out) == (0, True)
        assert mine.code == 1
        assert alike(mine.out) == alike(other.out), row


@followed
@pytest.mark.parametrize(
    "row",
    [
        "--list --timeout soon",
        "--reset-offsets --group payments-empty --all-topics --to-offset x --dry-run",
        "--reset-offsets --group payments-empty --all-topics --to-datetime yesterday --dry-run",
        "--reset-offsets --group payments-empty --all-topics --by-duration soon --dry-run",
        "--reset-offsets --group payments-empty --from-file /no/such/file --dry-run",
        "--reset-offsets --group payments-empty --topic no-such-topic --to-latest --dry-run",
        "--reset-offsets --group payments-empty --topic payments:99 --to-latest --dry-run",
    ],
)
def test_difference_invalid_values(known_cluster: KnownCluster, row: str) -> None:
    mine, other = ask_both(known_cluster, row)
    assert (other.code, "Error: " in other.out) == (0, True)
    keeps_sentences(row, mine, other)


@on("2.5.1")
def test_difference_states_of_older_brokers(known_cluster: KnownCluster) -> None:
    mine, other = ask_both(known_cluster, "--list --state")
    assert {line.split()[-1] for line in other.out.splitlines()[1:]} == {"Unknown"}
    assert {line.split()[-1] for line in mine.out.splitlines()[1:]} == {"Stable", "Empty"}
    mine, other = ask_both(known_cluster, "--list --state stable")
    assert (other.code, "UnsupportedVersionException" in other.out) == (0, True)
    assert (mine.code, "orders-range" in mine.out) == (0, True)


def test_tables_are_long() -> None:
    tables = (COMMAND_LINES, QUESTIONS, RESETS, ACTS, GROUPS_COMMAND_LINES, GROUPS_QUESTIONS)
    assert sum(len(set(rows(table))) for table in tables) >= 150
