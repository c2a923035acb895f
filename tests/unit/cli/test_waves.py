"""Which topics and groups must move together, and what is unknown about it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.groups import GroupType
from kgroups.model.placement import partition_of
from kgroups.render.dot import quoted
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.offset_records import commit_key, commit_value
from tests.fakes.record_batches import TRANSACTIONAL, batch
from tests.fakes.transaction_records import COMPLETE_COMMIT, ONGOING, expired, transaction

Run = Callable[..., tuple[int, str, str]]

LOG, OFFSETS = "__transaction_state", "__consumer_offsets"


def shop(fake: FakeCluster) -> None:
    """Groups a and b share t1; b also reads t2; c reads t3; no group reads t4 and t5."""
    for number in range(1, 6):
        fake.state.topic(f"t{number}", [0])
    fake.state.topic(OFFSETS, [0])
    fake.state.group("a", 0, commits={("t1", 0): 1})
    fake.state.group("b", 0, state="Stable", members=(FakeMember("m", {"t1": (0,), "t2": (0,)}),))
    fake.state.group("c", 0, commits={("t3", 0): 1})


@pytest.fixture
def served(serve: Callable[..., Any]) -> Any:
    return serve(fill=shop)


@pytest.fixture
def run(run_cli: Run, served: Any) -> Run:
    return lambda *words: run_cli("waves", *words, "-b", served.bootstrap)


def log(served: Any, *batches: Any, topic: str = LOG) -> None:
    end = batches[-1].last + 1 if batches else 0
    served.state.topic(topic, [0], end=end, logs={0: list(batches)})


def waves(run: Run, *words: str, code: int = 0) -> list[tuple[list[str], list[str], list[str]]]:
    got, out, err = run(*words, "-o", "json")
    assert got == code, err
    names = "group_names", "topic_names", "producer_names"
    return [tuple(row[name] for name in names) for row in json.loads(out)["items"]]  # type: ignore[misc]


def links(run: Run, *words: str, code: int = 0) -> set[tuple[str, str, str]]:
    got, out, _ = run(*words, "--links", "-o", "json")
    assert got == code
    return {(row["name"], row["linked"], ",".join(row["why"])) for row in json.loads(out)["items"]}


def test_groups_that_share_topics_are_one_wave(run: Run) -> None:
    assert waves(run) == [(["a", "b"], ["t1", "t2"], []), (["c"], ["t3"], [])]
    assert links(run) == {
        ("a", "t1", "committed"),
        ("b", "t1", "subscribed,assigned"),
        ("b", "t2", "subscribed,assigned"),
        ("c", "t3", "committed"),
    }


def test_group_and_topic_select_their_wave_with_its_number(run: Run) -> None:
    assert waves(run, "c") == waves(run, "--topic", "t3") == [(["c"], ["t3"], [])]
    assert json.loads(run("c", "-o", "json")[1])["items"][0]["wave"] == 2
    assert waves(run, "a", "--topic", "t3") == []
    assert waves(run, "--state", "empty", "--exclude", "a") == [(["c"], ["t3"], [])]
    code, out, err = run("nosuch", "--topic", "gone", "-o", "json")
    assert code == 1 and json.loads(out)["items"] == []
    assert "group 'nosuch'" in err and "topic 'gone'" in err
    code, out, err = run("--regex", "nosuch.*")
    assert code == 0 and "no group matches" in err


def test_cut_is_what_joins_most_parts(run: Run, served: Any) -> None:
    served.state.topic("hub", [0])
    for name in "abc":
        served.state.group(f"hub-{name}", 0, commits={("hub", 0): 1, (f"t{'abc'.index(name) + 3}", 0): 1})
    (first, *_) = json.loads(run("-o", "json")[1])["items"]
    assert (first["cut_kind"], first["cut"], first["cut_parts"]) == ("topic", "hub", 3)
    code, out, err = run("--ignore-topic", "hu*", "--ignore-topic", "x", "-o", "json")
    assert code == 0 and len(json.loads(out)["items"]) == 4
    assert "--ignore-topic 'hu*': 1 topic: hub" in err and "--ignore-topic 'x' matches nothing" in err
    assert waves(run, "--ignore-group", "hub-?") == [(["a", "b"], ["t1", "t2"], []), (["c"], ["t3"], [])]


def test_producer_joins_topics_and_groups_of_its_transactions(run: Run, served: Any) -> None:
    log(
        served,
        transaction(0, "p", {"t3": (0,)}, version=0),
        transaction(1, "p", {"t4": (0,), OFFSETS: (0,)}),
        transaction(2, "p", None, status=COMPLETE_COMMIT),
        transaction(3, "q", {"t5": (0,)}, producer=8),
        expired(4, "q"),
        transaction(5, "new", None, status=0, epoch=0, producer=9),
    )
    mine, other = commit_key("a", "t1", 0), commit_key("c", "t3", 0)
    commits = [
        batch(at, [(at, at)], key=key, value=commit_value(), attributes=flags, producer=number)
        for at, key, flags, number in ((0, mine, TRANSACTIONAL, 7), (1, other, TRANSACTIONAL, 70), (2, other, 0, 7))
    ]
    log(served, *commits, topic=OFFSETS)
    assert waves(run) == [(["a", "b", "c"], ["t1", "t2", "t3", "t4"], ["p"])]
    assert {("p", "a", "transaction"), ("p", "t3", "transaction"), ("p", "t4", "transaction")} <= links(run)
    assert waves(run, "--no-transactions") == [(["a", "b"], ["t1", "t2"], []), (["c"], ["t3"], [])]
    assert "transactions are left out" in run("--no-transactions")[2]


def test_topic_that_only_transactions_use_has_a_wave(run: Run, served: Any) -> None:
    log(served, transaction(0, "p", {"t4": (0,), "t5": (0,)}))
    assert waves(run, "--topic", "t5") == [([], ["t4", "t5"], ["p"])]


def test_group_of_offsets_is_inferred_from_the_transactional_id_or_named_as_unknown(run: Run, served: Any) -> None:
    assert partition_of("a", 1) == 0
    log(served, transaction(0, "a-1-thread", {"t4": (0,), OFFSETS: (0,)}))
    log(served, topic=OFFSETS)
    assert ("a-1-thread", "a", "inferred") in links(run)
    assert "inferred from names: 1 link" in run("--wide")[1]
    log(served, transaction(0, "other", {"t4": (0,), OFFSETS: (0,)}))
    code, out, err = run("-o", "json")
    assert code == 1 and json.loads(out)["items"]
    assert "the groups whose offsets 1 transactional producer committed were not found: other; waves may be too" in err


def test_producer_whose_transactions_were_compacted_is_named(run: Run, served: Any) -> None:
    log(served, transaction(5, "old", None, status=COMPLETE_COMMIT))
    code, out, err = run("-o", "json")
    assert code == 1 and len(json.loads(out)["items"]) == 2
    assert "it no longer contains, and no leader knows, what 1 transactional producer wrote: old; waves may be" in err
    code, _, err = run("--ignore-producer", "ol?")
    assert code == 0 and "--ignore-producer 'ol?': 1 producer: old" in err


def test_records_of_open_and_of_earlier_transactions_count(run: Run, served: Any) -> None:
    log(
        served,
        transaction(0, "p", None, status=0, epoch=0),
        transaction(1, "p", {"t3": (0,)}, status=ONGOING),
        transaction(2, "p", {"t3": (0,), "t4": (0,)}, status=ONGOING),
        transaction(3, "p", {"t3": (0,), "t4": (0,)}),
        transaction(4, "p", None, status=COMPLETE_COMMIT),
        transaction(5, "p", {"t5": (0,)}, status=ONGOING),
    )
    assert waves(run, "c") == [(["c"], ["t3", "t4", "t5"], ["p"])]
    log(served, transaction(0, "q", None, status=COMPLETE_COMMIT), transaction(1, "q", None, status=0, epoch=0))
    assert run()[0] == 1


def test_ignored_producer_joins_nothing(run: Run, served: Any) -> None:
    log(served, transaction(0, "gateway", {"t1": (0,), "t3": (0,), "t4": (0,)}))
    (row,) = json.loads(run("-o", "json")[1])["items"]
    assert (row["cut_kind"], row["cut"], row["cut_parts"]) == ("producer", "gateway", 3)
    assert waves(run, "--ignore-producer", "gateway") == [(["a", "b"], ["t1", "t2"], []), (["c"], ["t3"], [])]


def test_log_that_is_not_read_to_its_start_is_a_failure(run: Run, served: Any) -> None:
    log(served, *(transaction(at, f"p{at}", {"t4": (0,)}) for at in range(200)))
    for words in (("--log-time", "1ms"),):
        code, _, err = run(*words, "-o", "json")
        assert code == 1
        assert "transactions are not all known: 1 of 1 partition not read to the start: the search stopped at" in err


def test_undecodable_transaction_is_a_failure(run: Run, served: Any) -> None:
    log(served, batch(0, [(0, 0)], key=b"\0\0\0\1p", value=b"\0\x63"))
    code, _, err = run("-o", "json")
    assert code == 1 and "1 record could not be decoded" in err


@pytest.mark.parametrize("api", ["Metadata", "Fetch"])
def test_missing_acl_on_the_transaction_log_is_named(run: Run, served: Any, api: str) -> None:
    log(served, transaction(0, "p", {"t4": (0,)}))
    served.state.fail(api, LOG if api == "Metadata" else f"{LOG}-0", ErrorCode.topic_authorization_failed)
    code, out, err = run("-o", "json")
    assert code == 1
    acls = [{"operation": "READ", "resource": "TOPIC", "name": LOG}]
    assert json.loads(out)["missing_acls"] == acls
    assert "transactions are not all known" in err and "use --no-transactions" in err
    assert run("--no-transactions")[0] == 0


def test_hidden_groups_are_a_failure(run: Run, served: Any) -> None:
    served.state.operations = 0
    served.state.has_authorizer = True
    code, out, err = run("-o", "json")
    assert code == 1 and len(json.loads(out)["items"]) == 2
    assert "groups may be missing: needs DESCRIBE on CLUSTER; waves may be too small" in err


def test_rebalancing_group_is_a_failure_and_other_protocols_have_a_note(run: Run, served: Any) -> None:
    served.state.group("busy", 0, state="PreparingRebalance", members=(FakeMember("m"),))
    served.state.group("workers", 0, state="Stable", protocol_type="connect", members=(FakeMember("w"),))
    code, out, err = run()
    assert code == 1
    assert "group 'busy': its topics are not all known: the group rebalances" in err
    assert "group workers: brokers report no topics of the protocol type connect" in out


def test_internal_topics_and_topics_that_do_not_exist_join_nothing(run: Run, served: Any) -> None:
    internal = OFFSETS, "mm2-offset-syncs.B.internal", "A.checkpoints.internal"
    for name in internal[1:]:
        served.state.topic(name, [0])
    for group in ("a", "c"):
        served.state.group(
            group, 0, commits={("t1" if group == "a" else "t3", 0): 1} | {(name, 0): 1 for name in internal}
        )
        served.state.groups[group].commits["deleted", 0] = 1
    assert waves(run) == [(["a", "b"], ["t1", "t2"], []), (["c"], ["t3"], [])]
    err = run()[2]
    assert "topics that do not exist are left out: deleted" in err
    assert f"topics that are named as MirrorMaker 2's own are left out: {internal[2]}, {internal[1]}\n" in err


def test_internal_topics_of_streams_are_inferred_from_their_names(run: Run, served: Any) -> None:
    served.state.topic("c-store-changelog", [0])
    served.state.topic("nogroup-store-changelog", [0])
    assert waves(run, "c") == [(["c"], ["c-store-changelog", "t3"], [])]
    assert ("c", "c-store-changelog", "inferred") in links(run)


def test_share_group_joins_topics(run: Run, served: Any) -> None:
    served.state.group("s", 0, type=GroupType.SHARE, protocol_type="share", commits={("t3", 0): 1, ("t4", 0): 1})
    assert (["c", "s"], ["t3", "t4"], []) in waves(run)


def test_list_has_a_row_for_each_item(run: Run) -> None:
    code, out, _ = run("c", "a", "--list", "-o", "csv")
    assert code == 0
    assert out.splitlines() == [
        "wave,kind,name,links,note",
        "1,group,a,1,",
        "1,group,b,2,",
        "1,topic,t1,2,",
        "1,topic,t2,1,",
        "2,group,c,1,",
        "2,topic,t3,1,",
    ]


def test_table_shows_the_first_names_and_wide_shows_all(run: Run, served: Any) -> None:
    for number in range(9):
        served.state.group(f"a{number}", 0, commits={("t1", 0): 1})
    assert "a,a0,a1,… and 8 more" in run("a")[1]
    assert "a,a0,a1,a2,a3,a4,a5,a6,a7,a8,b" in run("a", "--wide")[1]


def test_options_that_exclude_each_other_are_usage_errors(run: Run) -> None:
    for words, text in (
        (("--list", "--links"), "--list and --links are mutually exclusive"),
        (("--no-transactions", "--log-mib", "1"), "cannot be combined with --no-transactions"),
        (("-o", "dot", "--links"), "-o dot cannot be combined"),
        (("--transport", "librdkafka"), "waves require the wire client"),
    ):
        code, _, err = run(*words)
        assert code == 2 and text in err


STATEMENT = re.compile(
    r"""
    graph\ \w+\ \{ | subgraph\ \w+\ \{ | \} | node\ \[[\w=]+\];
    | label="(?P<label>(?:[^"\\]|\\.)*)";
    | (?P<node>n\d+)\ \[label="(?P<name>(?:[^"\\]|\\.)*)",\ shape=\w+(?:,\ style=\w+)?\];
    | (?P<a>n\d+)\ --\ (?P<b>n\d+)\ \[label="(?P<why>(?:[^"\\]|\\.)*)"(?:,\ style=\w+)?\];
    """,
    re.VERBOSE,
)


def read_dot(text: str) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """Return node -> name, and the edges; each line is one statement of the subset that is written."""
    nodes, edges, depth = {}, set(), 0
    for line in text.splitlines():
        match = STATEMENT.fullmatch(line.strip())
        assert match, line
        depth += line.endswith("{") - (line.strip() == "}")
        if match["node"]:
            nodes[match["node"]] = re.sub(r"\\(.)", r"\1", match["name"]).replace("&amp;", "&")
        if match["a"]:
            edges.add((match["a"], match["b"]))
    assert depth == 0
    assert {node for edge in edges for node in edge} <= nodes.keys()
    return nodes, edges


def test_dot_has_each_item_and_link(run: Run) -> None:
    code, out, _ = run("-o", "dot")
    assert code == 0
    nodes, edges = read_dot(out)
    assert sorted(nodes.values()) == ["a", "b", "c", "t1", "t2", "t3"]
    assert {tuple(nodes[each] for each in edge) for edge in edges} == {
        ("a", "t1"),
        ("b", "t1"),
        ("b", "t2"),
        ("c", "t3"),
    }


@pytest.mark.parametrize(
    "name", ['"];x', "a\\", '\\"', "\\N\\G", "<b>x</b>", "&lt;", "a\nb", "\x1b[31m", "\u202e", "};{", "[x]", "", "ü"]
)
def test_dot_of_hostile_names_is_valid_and_shows_the_name(run: Run, served: Any, name: str) -> None:
    served.state.group(name, 0, commits={("t4", 0): 1})
    nodes, edges = read_dot(run("-o", "dot", "--topic", "t4")[1])
    assert len(nodes) == 2 and len(edges) == 1
    shown = next(iter(nodes.values()))
    assert shown == (name if name.isprintable() and "\\" not in name and name else shown)
    assert shown.isprintable()


def test_different_names_have_different_labels() -> None:
    names = ["a\n", "a\\n", "a\\\\n", "a", 'a"', 'a\\"', "&amp;", "&", "&amp;amp;"]
    assert len({quoted(name) for name in names}) == len(names)
