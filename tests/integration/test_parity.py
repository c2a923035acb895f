"""The Java ConsumerGroupCommand and kgroups, run on the same cluster with the same request: the rows are equal.

The oracles of each cluster are its own version's tool and the newest one, which speaks to all of them.

What is made alike first, and nothing else: the order of rows; ``-`` and empty cells are ``None``; the blanks in
``host:port  (id)``; the two spellings of an assignment; columns that only kgroups has are left out. Where the answers
differ on purpose, :data:`DIFFERENCES` says so, and a test shows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import pytest

from kgroups.sandbox.seed_data import DELETED_TOPIC, OPAQUE_ASSIGNMENT, STRANGE_NAME
from tests.integration.asking import Answer, Row, visible
from tests.integration.java_output import Cells, ToolOutput, assignment
from tests.integration.known_cluster import KnownCluster
from tests.integration.transient_groups import COMPLETING, IDLE, OWNED, TransientGroups
from tests.integration.versions import MAIN

DIFFERENCES = {
    "other_protocol_types": (
        "The Java tool lists groups of consumers only and refuses to describe others; kgroups shows every group, and "
        "what it cannot decode as size and hex."
    ),
    "deleted_topic": (
        "One group assigned to a deleted topic makes the Java tool fail for all groups of the command, exit 0; that of "
        "1.1.1 claims that the log ends at 0. kgroups shows the rows without an end, names the topic, exit 1."
    ),
    "missing_group": (
        "The Java tool says on stdout that a group does not exist, exit 0; kgroups on stderr, exit 1. With brokers "
        "that have DescribeGroups v6 (KIP-1043) the Java tool then shows none of the other groups; kgroups does."
    ),
    "idle_members": (
        "The Java tool's offsets view leaves out members that hold no partition; kgroups has a row that names them, so "
        "that no member of a group goes unseen."
    ),
    "groups_without_commits": (
        "The Java tool of 1.1.1 shows no partition of a group that has committed nothing at all; kgroups shows what "
        "its members hold, as later Java tools do."
    ),
    "states_of_older_brokers": (
        "Below ListGroups v4 the Java tool lists every group as Unknown and fails when asked to filter (its own older "
        "versions have no such option); kgroups describes the groups to know."
    ),
    "types_of_older_brokers": (
        "Below ListGroups v5 the Java tool lists every type as Unknown; asked for classic groups it lists all of them, "
        "asked for others it fails. kgroups lists the type as absent, with a note, and asked to filter says that it "
        "cannot, exit 1: a guess would not be an answer."
    ),
    "states_in_any_case": "Java tools before 3.x take the names of states in their exact case only; kgroups in any.",
    "topics_of_assignments": "The Java tool of 3.9.1 leaves out the topics of assignments, a bug; kgroups names them.",
    "control_characters": (
        "The Java tool writes group names as they are, terminal sequences too; kgroups escapes them in text."
    ),
}

JSON_KEYS = {
    "GROUP": "group",
    "TYPE": "type",
    "STATE": "state",
    "TOPIC": "topic",
    "PARTITION": "partition",
    "LEADER-EPOCH": "leader_epoch",
    "CURRENT-OFFSET": "current_offset",
    "LOG-END-OFFSET": "log_end_offset",
    "LAG": "lag",
    "CONSUMER-ID": "consumer_id",
    "HOST": "host",
    "CLIENT-ID": "client_id",
    "GROUP-INSTANCE-ID": "group_instance_id",
    "#PARTITIONS": "partitions",
    "CURRENT-EPOCH": "current_epoch",
    "CURRENT-ASSIGNMENT": "current_assignment",
    "TARGET-EPOCH": "target_epoch",
    "TARGET-ASSIGNMENT": "target_assignment",
    "UPGRADED": "upgraded",
    "COORDINATOR (ID)": "coordinator",
    "ASSIGNMENT-STRATEGY": "assignment_strategy",
    "GROUP-EPOCH": "group_epoch",
    "TARGET-ASSIGNMENT-EPOCH": "target_assignment_epoch",
    "#MEMBERS": "members",
}

OPAQUE = "connect-like"
DELETED = "billing-deleted-topic"


# What each side said, in one form.


def of_java(rows: Iterable[Cells], only: str | None = None) -> list[Cells]:
    """:param only: the requested group, if the tool's table does not contain it."""
    return [_of_java(row if only is None else {"GROUP": only, **row}) for row in rows]


def _of_java(row: Cells) -> Cells:
    alike = dict(row)
    if "ASSIGNMENT" in alike:
        alike["CURRENT-ASSIGNMENT"] = alike.pop("ASSIGNMENT")
    for header in ("CURRENT-ASSIGNMENT", "TARGET-ASSIGNMENT"):
        if header in alike:
            alike[header] = assignment(alike[header])
    if coordinator := alike.get("COORDINATOR (ID)"):
        alike["COORDINATOR (ID)"] = re.sub(r" +\(", " (", coordinator)
    return alike


def of_json(rows: Iterable[Row]) -> list[Cells]:
    return [{header: _text(row[key]) for header, key in JSON_KEYS.items() if key in row} for row in rows]


def _text(value: object) -> str | None:
    match value:
        case None | "" | []:
            return None
        case bool():
            return str(value).lower()
        case {"host": host, "port": port, "id": number}:
            return f"{host}:{port} ({number})"
        case [*entries]:
            return ";".join(f"{entry['topic']}:{','.join(map(str, entry['partitions']))}" for entry in entries)
    return str(value)


def of_plain(rows: Iterable[dict[str, str]]) -> list[Cells]:
    return [{header: None if text == "-" else text for header, text in row.items()} for row in rows]


def as_in_text(rows: Iterable[Cells]) -> list[Cells]:
    return [{header: text and visible(text) for header, text in row.items()} for row in rows]


def assert_same(ours: Sequence[Cells], theirs: Sequence[Cells]) -> None:
    """Compare rows as multisets, in the columns that Java has for the same group."""
    columns = {row["GROUP"]: set(row) for row in theirs}
    projected = [
        {header: text for header, text in row.items() if header in columns.get(row["GROUP"], row)} for row in ours
    ]
    assert _sorted(projected) == _sorted(theirs)


def _sorted(rows: Iterable[Cells]) -> list[Cells]:
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


class Case(NamedTuple):
    """One query for both tools, and the versions of the Java tool."""

    java: Sequence[str]
    ours: Sequence[str]
    tools: Sequence[str]
    adapt: Callable[[list[Cells]], list[Cells]] = lambda rows: rows
    """Remove rows of kgroups that a named difference adds."""


class Heard(NamedTuple):
    """The output of kgroups in both formats, and of each Java tool."""

    ours: Answer
    plain: Answer
    theirs: Mapping[str, ToolOutput]


def agree(known_cluster: KnownCluster, case: Case) -> Heard:
    """Run kgroups and Java; if they differ, run both once more, because a group may have changed."""
    try:
        return _agree(known_cluster, case)
    except AssertionError:
        return _agree(known_cluster, case)


def _agree(known_cluster: KnownCluster, case: Case) -> Heard:
    output = {tool: known_cluster.java(*case.java, version=tool) for tool in case.tools}
    result, plain = known_cluster.ask(*case.ours, "-o", "json"), known_cluster.ask(*case.ours, "-o", "plain")
    for tool, answer in output.items():
        broken = tool == "3.9.1" and "--members" in case.java
        fix = without_topics if broken else list[Cells]
        theirs = fix(of_java(answer.rows))
        assert theirs, answer
        assert_same(fix(case.adapt(of_json(result.items))), theirs)
        if case.ours[0] == "list" and plain.lines and not plain.lines[0].startswith("GROUP"):  # a filter: bare names
            names: list[Cells] = [{"GROUP": name} for name in plain.lines]
            assert_same(case.adapt(names), [{"GROUP": row["GROUP"]} for row in as_in_text(theirs)])
        else:
            assert_same(fix(case.adapt(of_plain(plain.table))), as_in_text(theirs))
    assert (result.code, plain.code) == (0, 0), result.err + plain.err
    return Heard(result, plain, output)


def nameless(text: str | None) -> str | None:
    return text and ";".join(sorted(re.findall(r":([\d,]+)", text)))


def without_topics(rows: Iterable[Cells]) -> list[Cells]:
    """Assignments as the tool of 3.9.1 shows them: see topics_of_assignments."""
    return [
        {header: nameless(text) if header.endswith("-ASSIGNMENT") else text for header, text in row.items()}
        for row in rows
    ]


def tools(known_cluster: KnownCluster, *, several_groups: bool = False) -> list[str]:
    """The versions of the Java tool to ask; without that of 1.1.1 where it would have to take several groups."""
    own = [] if several_groups and not known_cluster.since("2.5") else [known_cluster.version]
    return list(dict.fromkeys([*own, MAIN]))


# list


def without_others(rows: Iterable[Cells]) -> list[Cells]:
    return [row for row in rows if row["GROUP"] != OPAQUE]


def test_list_matches_java(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    # Names alone, in no order; of every kind but other_protocol_types.
    answer = [row["group"] for row in known_cluster.ask("list", "-o", "json").items]
    plain = known_cluster.ask("list").lines
    for tool in tools(known_cluster):
        names = known_cluster.java("--list", version=tool).names
        assert sorted(name for name in answer if name != OPAQUE) == sorted(names)
        assert sorted(name for name in plain if name != OPAQUE) == sorted(map(visible, names))
        assert {*transient_groups.groups, *known_cluster.groups} - {OPAQUE} <= set(names)


@pytest.mark.parametrize("states", [(), ("Stable,CompletingRebalance",)], ids=["", "filtered"])
def test_list_by_state_matches_java(
    known_cluster: KnownCluster, transient_groups: TransientGroups, states: tuple[str, ...]
) -> None:
    if not known_cluster.since("2.6"):
        pytest.skip("no Java tool reports it: see states_of_older_brokers")
    words = ["--list", "--state", *states]
    heard = agree(known_cluster, Case(words, ours(words), tools(known_cluster), without_others))
    assert ("Empty" in {row["state"] for row in heard.ours.items}) == (not states)


@pytest.mark.parametrize("words", [("--type", "--state"), ("--type", "Consumer")], ids=["", "filtered"])
def test_list_by_type_matches_java(
    known_cluster: KnownCluster, transient_groups: TransientGroups, words: tuple[str, ...]
) -> None:
    if not known_cluster.since("3.8"):
        pytest.skip("no Java tool reports it: see types_of_older_brokers")
    asked = ["--list", *words]
    heard = agree(known_cluster, Case(asked, ours(asked), tools(known_cluster), without_others))
    assert {row["type"] for row in heard.ours.items} == {"Consumer", *(["Classic"] if "--state" in words else [])}


# describe


def ours(words: Sequence[str]) -> list[str]:
    """The Java tool's words as kgroups takes them: the command without its dashes."""
    return [words[0].removeprefix("--"), *words[1:]]


def named(groups: Iterable[str]) -> list[str]:
    return [word for group in groups for word in ("--group", group)]


def describable(known_cluster: KnownCluster, transient_groups: TransientGroups, view: str) -> list[str]:
    """The groups that the Java tool can describe."""
    lost = {OPAQUE, DELETED} if view == "offsets" else {OPAQUE}
    return [*(name for name in known_cluster.groups if name not in lost), *transient_groups.groups]


def without_idle(rows: Iterable[Cells]) -> list[Cells]:
    return [row for row in rows if "TOPIC" not in row or row["TOPIC"] is not None]


VIEWS = pytest.mark.parametrize("view", ["offsets", "members", "state"])
VERBOSE = pytest.mark.parametrize("verbose", [("--verbose",), ()], ids=["verbose", ""])


@VIEWS
@VERBOSE
def test_describe_named_groups_matches_java(
    known_cluster: KnownCluster, transient_groups: TransientGroups, view: str, verbose: tuple[str, ...]
) -> None:
    words = ["--describe", *named(describable(known_cluster, transient_groups, view)), f"--{view}", *verbose]
    heard = agree(known_cluster, Case(words, ours(words), _some_tools(known_cluster, verbose), without_idle))
    for output in heard.theirs.values():
        if view != "state":  # where it is a column
            assert sorted(_remarked(heard.ours, "has no active members")) == sorted(
                map(visible, _remarked(output, "has no active members"))
            )
            assert _remarked(heard.ours, "is rebalancing") == _remarked(output, "is rebalancing") == [COMPLETING]


@pytest.mark.parametrize("view", ["members", "state"])
@VERBOSE
def test_describe_all_groups_matches_java(
    known_cluster: KnownCluster, transient_groups: TransientGroups, view: str, verbose: tuple[str, ...]
) -> None:
    """The offsets of all are compared in test_scale: here no Java tool gets past the deleted topic."""
    words = ["--describe", "--all-groups", f"--{view}", *verbose]

    def adapt(rows: list[Cells]) -> list[Cells]:
        return without_idle(without_others(rows))

    agree(known_cluster, Case(words, ours(words), _some_tools(known_cluster, verbose), adapt))


def _some_tools(known_cluster: KnownCluster, verbose: Sequence[str]) -> list[str]:
    """The newest tool with --verbose shows all that it shows without; and it takes its time."""
    every = tools(known_cluster, several_groups=True)
    return every if verbose else every[:1]


def _remarked(answer: Answer | ToolOutput, what: str) -> list[str]:
    return re.findall(f"group '(.*)' {what}", answer.err)


def test_describe_single_groups_matches_oldest_java(
    known_cluster: KnownCluster, transient_groups: TransientGroups
) -> None:
    """The tool of 1.1.1 takes one group a run, and does not name it in its tables."""
    if known_cluster.since("2.5"):
        pytest.skip("the tool takes several groups: see test_describe_named_groups_matches_java")
    few = ["orders-roundrobin", "payments-empty", COMPLETING]
    for view, groups in (
        ("offsets", describable(known_cluster, transient_groups, "offsets")),
        ("members", few),
        ("state", few),
    ):
        rows = without_idle(of_json(known_cluster.ask("describe", *named(groups), f"--{view}", "-o", "json").items))
        for name in groups:
            output = known_cluster.java("--describe", "--group", name, f"--{view}", "--verbose")
            mine = [row for row in rows if row["GROUP"] == name]
            assert_same([] if view == "offsets" and name == OWNED else mine, of_java(output.rows, only=name))


# The differences.


def test_every_difference_has_a_test() -> None:
    assert {f"test_difference_{name}" for name in DIFFERENCES} <= set(globals())


def test_difference_other_protocol_types(known_cluster: KnownCluster) -> None:
    for tool in tools(known_cluster):
        oldest = tool == "1.1.1"  # it waits for the group to become one of consumers
        patience = ("--timeout", "5000") if oldest else ()
        output = known_cluster.java("--describe", "--group", OPAQUE, "--members", *patience, version=tool)
        assert (output.code, output.rows) == (0, [])
        assert ("timed out" if oldest else "is not a consumer group") in output.out
    answer = known_cluster.ask("describe", OPAQUE, "--members", "-v")
    assert (answer.code, len(answer.table)) == (0, 1)
    assert answer.table[0]["CURRENT-ASSIGNMENT"].startswith(f"{len(OPAQUE_ASSIGNMENT)} bytes 0xcafe")


def test_difference_deleted_topic(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", DELETED, "ahead")
    rows = answer.table
    assert answer.code == 1, answer.err
    assert f"topic '{DELETED_TOPIC}': the topic or partition does not exist" in answer.err
    assert [(row["GROUP"], row["TOPIC"], row["LOG-END-OFFSET"], row["LAG"]) for row in rows] == [
        ("ahead", "clicks", "100", "-50"),
        (DELETED, "billing", "-", "-"),
        (DELETED, "billing", "-", "-"),
        (DELETED, "payments", "60", "0"),
        (DELETED, "payments", "70", "10"),
        (DELETED, "payments", "80", "20"),
    ]
    for tool in tools(known_cluster, several_groups=True):
        output = known_cluster.java("--describe", "--group", DELETED, "--group", "ahead", version=tool)
        assert (output.code, output.rows) == (0, [])
        assert "UnknownTopicOrPartitionException" in output.out
    if not known_cluster.since("2.5"):
        output = known_cluster.java("--describe", "--group", DELETED)
        assert ("0", None) in {(row["LOG-END-OFFSET"], row["LAG"]) for row in output.rows}


def test_difference_missing_group(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "nobody-knows-it", "ahead")
    assert answer.code == 1, answer.err
    assert [row["GROUP"] for row in answer.table] == ["ahead"]
    assert "group 'nobody-knows-it': the group does not exist" in answer.err
    for tool in tools(known_cluster, several_groups=True):
        output = known_cluster.java("--describe", "--group", "nobody-knows-it", "--group", "ahead", version=tool)
        hidden = tool in (MAIN, "4.4.0") and known_cluster.since("4.0")
        assert (output.code, [row["GROUP"] for row in output.rows]) == (0, [] if hidden else ["ahead"])
        assert re.search("nobody-knows-it'? (does not exist|not found)", output.out)


def test_difference_idle_members(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    answer = known_cluster.ask("describe", IDLE, "-o", "json")
    assert [(row["topic"], row["current_offset"]) for row in answer.items] == [("clicks", 50), (None, None)]
    for tool in tools(known_cluster):
        assert [row["TOPIC"] for row in known_cluster.java("--describe", "--group", IDLE, version=tool).rows] == [
            "clicks"
        ]


def test_difference_groups_without_commits(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    answer = known_cluster.ask("describe", OWNED, "-o", "json")
    assert [(row["partition"], row["lag"]) for row in answer.items] == [(partition, None) for partition in range(6)]
    for tool in tools(known_cluster):
        assert len(known_cluster.java("--describe", "--group", OWNED, version=tool).rows) == (
            0 if tool == "1.1.1" else 6
        )


def test_difference_states_of_older_brokers(known_cluster: KnownCluster) -> None:
    states = {row["group"]: row["state"] for row in known_cluster.ask("list", "--state", "-o", "json").items}
    assert states.items() >= {name: group.state for name, group in known_cluster.groups.items()}.items()
    if known_cluster.since("2.6"):
        return
    assert known_cluster.java("--list", "--state").code == 1
    assert {row["STATE"] for row in known_cluster.java("--list", "--state", version=MAIN).rows} == {"Unknown"}
    output = known_cluster.java("--list", "--state", "stable", version=MAIN)
    assert (output.code, output.rows) == (0, [])
    assert "UnsupportedVersionException" in output.out
    answer = known_cluster.ask("list", "--state", "empty", "-o", "json")
    assert answer.code == 0, answer.err
    assert {row["group"] for row in answer.items} >= {name for name in known_cluster.groups if states[name] == "Empty"}
    assert {row["state"] for row in answer.items} == {"Empty"}


def test_difference_types_of_older_brokers(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("list", "--type", "-o", "json")
    assert answer.code == 0, answer.err
    if known_cluster.since("3.8"):
        assert None not in {row["type"] for row in answer.items}
        return
    assert {row["type"] for row in answer.items} == {None}
    assert "does not report group types" in answer.err
    assert {row["TYPE"] for row in known_cluster.java("--list", "--type", version=MAIN).rows} == {"Unknown"}
    # It lets "classic" through, and lists everything; any other type is more than ListGroups can ask for.
    output = known_cluster.java("--list", "--type", "classic", version=MAIN)
    assert {row["TYPE"] for row in output.rows} == {"Unknown"}
    output = known_cluster.java("--list", "--type", "consumer", version=MAIN)
    assert (output.code, output.rows) == (0, [])
    assert "UnsupportedVersionException" in output.out
    answer = known_cluster.ask("list", "--type", "classic")
    assert (answer.code, answer.lines) == (1, [])
    assert "cannot filter by type" in answer.err


def test_difference_states_in_any_case(known_cluster: KnownCluster) -> None:
    answers = [known_cluster.ask("list", "--state", word).out for word in ("Empty", "empty", "EMPTY")]
    assert answers == [answers[0]] * 3
    if known_cluster.version == "2.8.2":
        output = known_cluster.java("--list", "--state", "empty")
        assert (output.code, output.rows) == (1, [])
        assert "Invalid state list 'empty'" in output.out + output.err


def test_difference_topics_of_assignments(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "orders-roundrobin", "--members", "-v", "-o", "json")
    assert {entry["topic"] for row in answer.items for entry in row["current_assignment"]} == {"orders", "payments"}
    output = known_cluster.java("--describe", "--group", "orders-roundrobin", "--members", "--verbose")
    column = "ASSIGNMENT" if not known_cluster.since("4.0") else "CURRENT-ASSIGNMENT"
    assert all(("orders" in (row[column] or "")) == (known_cluster.version != "3.9.1") for row in output.rows)


def test_difference_control_characters(known_cluster: KnownCluster) -> None:
    assert STRANGE_NAME in known_cluster.java("--list").names
    for words in (["list"], ["list", "-w"], ["describe", STRANGE_NAME], ["describe", STRANGE_NAME, "--state"]):
        answer = known_cluster.ask(*words)
        assert visible(STRANGE_NAME) in answer.out
        assert not set(answer.out + answer.err) & {"\x1b", "\t"}
    assert STRANGE_NAME in {row["group"] for row in known_cluster.ask("list", "-o", "json").items}
