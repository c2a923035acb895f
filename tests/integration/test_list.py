"""``kgroups list`` against real brokers."""

from __future__ import annotations

import re
import socket
import struct

import pytest

from kgroups.sandbox.seed_data import STRANGE_NAME
from tests.integration.asking import Answer, Row, run_kgroups, visible, without_markdown
from tests.integration.known_cluster import KnownCluster


def known(known_cluster: KnownCluster, answer: Answer) -> dict[str, Row]:
    """The rows of the known groups; each group has one row."""
    names = [row["group"] for row in answer.items]
    assert len(names) == len(set(names))
    return {row["group"]: row for row in answer.items if row["group"] in known_cluster.groups}


def test_list_names_are_sorted_and_unique(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("list")
    assert (answer.code, answer.err) == (0, "")
    assert answer.lines == sorted(set(answer.lines))
    assert set(answer.lines) >= {visible(name) for name in known_cluster.groups}


def test_list_state_flag_adds_the_column(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("list", "--state", "-o", "plain")
    assert set(answer.table[0]) == {"GROUP", "STATE"}
    states = {row["GROUP"]: row["STATE"] for row in answer.table}
    assert states.items() >= {visible(name): group.state for name, group in known_cluster.groups.items()}.items()
    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "states"),
    [
        (("--state", "Stable"), {"Stable"}),
        (("--state", "stable"), {"Stable"}),
        (("--state", "EMPTY,stable"), {"Empty", "Stable"}),
        (("--state", "empty", "--state", "preparing_rebalance"), {"Empty"}),
        (("--state", "dead"), set()),
    ],
)
def test_list_state_filter_accepts_any_case(
    known_cluster: KnownCluster, words: tuple[str, ...], states: set[str]
) -> None:
    answer = known_cluster.ask("list", *words, "-o", "json")
    assert answer.code == 0, answer.err
    assert {row["state"] for row in answer.items} == states
    assert set(known(known_cluster, answer)) == {
        name for name, group in known_cluster.groups.items() if group.state in states
    }


def test_list_state_filter_is_sent_to_brokers_that_support_it(known_cluster: KnownCluster) -> None:
    """Old ones are asked to describe their groups instead."""
    answer = known_cluster.ask("list", "--state", "stable", "--debug")
    assert {request.api for request in answer.requests} == {"ApiVersions", "Metadata", "ListGroups", "DescribeGroups"}
    checks = 2 * len(answer.sent("ListGroups"))  # a list is checked before and after
    described = len(answer.sent("DescribeGroups")) - checks
    assert described == 0 if known_cluster.since("2.6") else described > 0


def test_list_type_flag_adds_the_column(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("list", "--type", "-o", "plain")
    types = {row["GROUP"]: row["TYPE"] for row in answer.table}
    assert set(answer.table[0]) == {"GROUP", "TYPE"}
    assert answer.code == 0, answer.err
    if known_cluster.since("3.8"):
        assert types.items() >= {visible(name): group.type for name, group in known_cluster.groups.items()}.items()
        assert answer.err == ""
    else:
        assert set(types.values()) == {"-"}
        assert re.fullmatch(r"kgroups: note: broker 1 \(\S+\) does not report group types .*\n", answer.err)


@pytest.mark.parametrize("word", ["classic", "Consumer", "CLASSIC,consumer"])
def test_list_type_filter_selects_groups(known_cluster: KnownCluster, word: str) -> None:
    answer = known_cluster.ask("list", "--type", word, "-o", "json")
    if known_cluster.since("3.8"):
        wanted = {part.title() for part in word.split(",")}
        assert (answer.code, answer.err) == (0, "")
        assert {name: row["type"] for name, row in known(known_cluster, answer).items()} == {
            name: group.type for name, group in known_cluster.groups.items() if group.type in wanted
        }
    else:  # it cannot know, and does not guess
        assert (answer.code, answer.items) == (1, [])
        assert [(failure["scope"], failure["api"]) for failure in answer.failures] == [("broker", "ListGroups")]
        assert "cannot filter by type: this broker does not report group types (ListGroups v5, Kafka 3.8)" in answer.err


@pytest.mark.parametrize("words", ["consumer", "connect", "consumer,connect"])
def test_list_protocol_type_filter_selects_groups(known_cluster: KnownCluster, words: str) -> None:
    answer, wanted = known_cluster.ask("list", "--protocol-type", words, "-o", "json"), set(words.split(","))
    assert (answer.code, {row["protocol_type"] for row in answer.items}) == (0, wanted)
    assert set(known(known_cluster, answer)) == {
        name for name, group in known_cluster.groups.items() if group.protocol_type in wanted
    }


def test_list_filters_are_combined(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("list", "--state", "stable", "--protocol-type", "connect")
    assert answer.lines == ["connect-like"]


def test_list_coordinator_matches_find_coordinator(known_cluster: KnownCluster) -> None:
    answer = known(known_cluster, known_cluster.ask("list", "-o", "json"))
    first = known_cluster.sandbox.brokers[0]
    for name, row in answer.items():
        where = row["coordinator"]
        assert (where["id"], where["host"], where["port"]) == find_coordinator(first.host, first.port, name)
    table = {row["GROUP"]: row for row in known_cluster.ask("list", "-w", "-o", "plain").table}
    for name, row in answer.items():
        where = row["coordinator"]
        assert table[visible(name)]["COORDINATOR (ID)"] == f"{where['host']}:{where['port']} ({where['id']})"
    if len(known_cluster.sandbox.brokers) > 1:
        assert len({row["coordinator"]["id"] for row in answer.values()}) > 1


def find_coordinator(host: str, port: int, group: str) -> tuple[int, str, int]:
    """Send FindCoordinator v0 without the client of kgroups, and return the broker's response."""
    name, client = group.encode(), b"test"
    body = struct.pack(f">hhih{len(client)}sh{len(name)}s", 10, 0, 7, len(client), client, len(name), name)
    with socket.create_connection((host, port), 10) as broker, broker.makefile("rb") as answers:
        broker.sendall(struct.pack(">i", len(body)) + body)
        (size,) = struct.unpack(">i", answers.read(4))
        reply = answers.read(size)
    correlation, error, number, length = struct.unpack_from(">ihih", reply)
    assert (correlation, error) == (7, 0)
    (told_host, told_port) = struct.unpack_from(f">{length}si", reply, 12)
    return number, told_host.decode(), told_port


def test_list_formats_have_the_same_values(known_cluster: KnownCluster) -> None:
    rows = known_cluster.ask("list", "-o", "json").items
    lines = known_cluster.ask("list", "-o", "jsonl")
    assert [Answer(0, line, "", 0).envelope for line in lines.lines] == rows
    in_csv = known_cluster.ask("list", "-o", "csv").csv
    assert [(row["group"], row["state"], row["type"]) for row in in_csv] == [
        (visible(row["group"]), row["state"], row["type"] or "") for row in rows
    ]
    table = known_cluster.ask("list", "-w", "-o", "plain").table
    assert [(row["GROUP"], row["STATE"]) for row in table] == [(visible(row["group"]), row["state"]) for row in rows]
    header, rule, *github = known_cluster.ask("list", "-w", "-o", "github").lines
    assert [cell.strip() for cell in header.strip("|").split("|")] == list(table[0])
    assert set(rule) <= set("|-: ")
    assert [[without_markdown(cell.strip()) for cell in line.strip("|").split("|")] for line in github] == [
        list(row.values()) for row in table
    ]


def test_list_output_is_deterministic(known_cluster: KnownCluster) -> None:
    words = ("list", "-o", "json", "--type")  # as processes: each hashes in an order of its own
    answers = {run_kgroups(*words, bootstrap=known_cluster.sandbox.bootstrap).out for _ in range(2)}
    assert len(answers) == 1


def test_list_json_has_an_envelope(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("list", "-o", "json").envelope
    assert answer["schema"] == "kgroups/list/v1"
    assert re.fullmatch(r"[\w-]{22}", answer["cluster_id"])
    assert answer["failures"] == []
    assert STRANGE_NAME in [row["group"] for row in answer["items"]]


def test_list_uses_bootstrap_server_from_environment(known_cluster: KnownCluster) -> None:
    wanted = known_cluster.ask("list").out
    for broker in known_cluster.sandbox.brokers:
        answer = run_kgroups("list", env={"KGROUPS_BOOTSTRAP_SERVER": f"{broker.host}:{broker.port}"})
        assert (answer.code, answer.out) == (0, wanted)
