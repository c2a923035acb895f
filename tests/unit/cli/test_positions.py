"""``--positions``: Spark queries as groups, in the commands that show groups, over fake brokers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.broker import FakeCluster
from tests.fakes.spark_checkpoint import FakeCheckpoint

Run = Callable[..., tuple[int, str, str]]


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], start=5, end=100)
    fake.state.topic("clicks", [1], end=10)
    fake.state.group("alone", 0, commits={("clicks", 0): 10})
    fake.state.group("zebra", 1, commits={("orders", 0): 100, ("orders", 1): 90})


@pytest.fixture
def query(tmp_path: Path) -> FakeCheckpoint:
    """Has read the orders up to 60 and 70, and reads up to 80 now."""
    fake = FakeCheckpoint(tmp_path / "enrich")
    fake.plan(3, {"orders": {0: 60, 1: 70}})
    fake.complete(3)
    fake.plan(4, {"orders": {0: 80, 1: 70}})
    return fake


@pytest.fixture
def kgroups(run_cli: Run, serve: Callable, query: FakeCheckpoint) -> Callable[..., tuple[int, str, str]]:
    served = serve(fill=shop)

    def run(command: str, *words: str, positions: str = f"spark:{query.folder}") -> tuple[int, str, str]:
        return run_cli(command, "-b", served.bootstrap, *words, *(["--positions", positions] if positions else []))

    return run


def rows(answer: tuple[int, str, str], code: int = 0) -> list[dict[str, Any]]:
    assert answer[0] == code, answer
    found: list[dict[str, Any]] = json.loads(answer[1])["items"]
    return found


def test_list_shows_the_query_among_the_groups(kgroups: Run) -> None:
    code, out, err = kgroups("list", "-o", "table")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["alone", "Classic", "Empty"],
        ["enrich", "Spark", "-"],
        ["zebra", "Classic", "Empty"],
    ]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--type", "spark"], ["enrich"]),
        (["--type", "classic"], ["alone", "zebra"]),
        (["--type", "spark,classic"], ["alone", "enrich", "zebra"]),
        (["--state", "empty"], ["alone", "zebra"]),
        (["--coordinator", "0"], ["alone"]),
        (["e*"], ["enrich"]),
        (["--regex", "enr.*|al.*"], ["alone", "enrich"]),
        (["--exclude", "enr.*"], ["alone", "zebra"]),
        (["enrich"], ["enrich"]),
        (["enrich", "alone"], ["alone", "enrich"]),
        (["--topic", "orders"], ["enrich", "zebra"]),
        (["--topic", "clicks"], ["alone"]),
        (["--protocol-type", "connect"], []),
    ],
)
def test_query_is_selected_as_groups_are(kgroups: Run, words: list[str], names: list[str]) -> None:
    code, out, err = kgroups("list", *words)
    assert code == 0, err
    assert out.split() == names
    assert ("no group matches" in err) is (not names)


def test_query_is_not_counted_as_a_group_of_the_cluster(kgroups: Run) -> None:
    (row,) = rows(kgroups("list", "--by", "cluster", "-o", "json"))
    assert (row["groups"], row["empty"], row["unknown_state"]) == (2, 2, 0)


def test_lag_is_that_after_the_last_complete_batch(kgroups: Run) -> None:
    alone, enrich, zebra = rows(kgroups("lag", "-o", "json"))
    assert (alone["group"], zebra["group"]) == ("alone", "zebra")
    assert enrich["group"] == "enrich"
    assert (enrich["total_lag"], enrich["members"], enrich["state"]) == (70, None, "")
    assert enrich["status"] == "lagging"
    assert enrich["note"] == "batch 4 is in flight up to orders-0 at 80"


def test_lag_of_partitions_shows_where_the_batch_ends(kgroups: Run) -> None:
    first, second = rows(kgroups("lag", "enrich", "--by", "partition", "-o", "json"))
    assert (first["current_offset"], first["lag"]) == (60, 40)
    assert first["note"] == "batch 4 is in flight up to 80"
    assert (second["current_offset"], second["lag"], second["note"]) == (70, 30, None)


def test_new_partition_has_no_position(kgroups: Run, query: FakeCheckpoint) -> None:
    query.plan(5, {"orders": {0: 60}})
    query.complete(5)
    (row,) = rows(kgroups("lag", "enrich", "-o", "json"))
    assert (row["total_lag"], row["known_lag"], row["uncommitted"]) == (None, 40, 1)


def test_query_without_a_batch_has_unknown_lag(kgroups: Run, tmp_path: Path) -> None:
    FakeCheckpoint(tmp_path / "new")
    (row,) = rows(kgroups("lag", "new", "-o", "json", positions=f"spark:{tmp_path / 'new'}"))
    assert (row["total_lag"], row["status"]) == (None, "unknown")
    assert row["note"] == "the query has not begun a batch yet"


def test_lost_records_are_critical(kgroups: Run, query: FakeCheckpoint) -> None:
    query.plan(5, {"orders": {0: 3, 1: 70}})
    query.complete(5)
    (row,) = rows(kgroups("lag", "enrich", "-o", "json"))
    assert row["status"] == "data lost"


def test_position_beyond_the_log_end_is_critical(kgroups: Run, query: FakeCheckpoint) -> None:
    query.plan(5, {"orders": {0: 3000, 1: 70}})
    query.complete(5)
    (row,) = rows(kgroups("lag", "enrich", "-o", "json"))
    assert (row["status"], row["ahead"]) == ("beyond log end", 1)


def test_topic_of_another_cluster_is_a_failure(kgroups: Run, query: FakeCheckpoint) -> None:
    query.plan(5, {"payments": {0: 3}})
    query.complete(5)
    code, _, err = kgroups("lag", "enrich")
    assert code == 1
    assert "payments" in err
    assert "hint: the topic was deleted, or the checkpoint belongs to another cluster" in err
    assert "delete-offsets" not in err


def test_name_of_a_group_of_the_cluster_is_a_failure(kgroups: Run, query: FakeCheckpoint) -> None:
    for command in ("list", "lag", "describe"):
        code, out, err = kgroups(command, "alone", positions=f"spark:{query.folder}=alone")
        assert code == 1
        assert out.count("alone") == 1
        assert (
            f"group 'alone': the cluster has a group of this name, too; the positions in the checkpoint {query.folder} "
            in err
        )
        assert "--positions spark:PATH=NAME" in err


def test_unreadable_checkpoint_hides_no_group(kgroups: Run, query: FakeCheckpoint) -> None:
    (query.folder / "offsets/3").write_text("v9\n{}\n-")
    for command in ("list", "lag"):
        code, out, err = kgroups(command)
        assert code == 1
        assert "alone" in out
        assert "enrich" not in out
        line = f"kgroups: group 'enrich': checkpoint {query.folder}: offsets/3: version 9 is unknown"
        assert err.startswith(line), err


def test_sources_that_are_not_kafka_are_a_note(kgroups: Run, query: FakeCheckpoint) -> None:
    query.plan(5, "7", {"orders": {0: 60, 1: 70}})
    query.complete(5)
    code, _, err = kgroups("lag", "enrich")
    assert code == 0
    assert err == "kgroups: note: enrich: not shown, because it is not Kafka: source 0 of the query\n"


def test_check_applies_the_rules_about_positions(kgroups: Run) -> None:
    words = (
        "--max-lag",
        "50",
        "--state",
        "stable",
        "--stopped",
        "--assignor",
        "range",
        "--min-members",
        "1",
        "--assigned",
    )
    more = ("--max-commit-age", "1h", "--min-offset-headroom", "1d", "--type", "spark", "-o", "json")
    code, out, _ = kgroups("check", "enrich", *words, *more)
    found = {each["check"]: each["status"] for each in json.loads(out)["items"]}
    assert code == 2
    assert found == {
        "exists": "OK",
        "type": "OK",
        "lag": "CRITICAL",
        "offset-headroom": "OK",
        **dict.fromkeys(["state", "stopped", "assignor", "members", "assigned", "commit-age"], "UNKNOWN"),
    }


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("reset-offsets", ["--all-topics", "--to-latest"]),
        ("delete", []),
        ("delete-offsets", ["--topic", "orders"]),
        ("remove-members", ["--all-members"]),
    ],
)
def test_change_of_a_query_is_refused(kgroups: Run, command: str, words: list[str]) -> None:
    code, out, err = kgroups(command, "enrich", *words)
    assert (code, out) == (2, "")
    assert err == (
        "kgroups: error: 'enrich' is read-only: its positions are in the checkpoint of a Spark query; to change them, "
        "start the query with a new checkpoint and the option startingOffsets\n"
    )


def test_change_of_another_group_is_possible(kgroups: Run) -> None:
    code, out, _ = kgroups("reset-offsets", "zebra", "--all-topics", "--to-latest")
    assert code == 0
    assert "enrich" not in out


def test_describe_shows_the_positions(kgroups: Run) -> None:
    code, out, _ = kgroups("describe", "enrich")
    assert code == 0
    assert out.splitlines()[1].split()[:6] == ["enrich", "orders", "0", "60", "100", "40"]


def test_watch_reads_the_checkpoint_at_each_refresh(kgroups: Run) -> None:
    code, out, _ = kgroups("watch", "enrich", "--count", "2", "--interval", "100ms")
    assert code == 0
    ticks = [json.loads(line)["items"] for line in out.splitlines()]
    assert [[(row["group"], row["status"], row["total_lag"]) for row in tick] for tick in ticks] == [
        [("enrich", "lagging", 70)]
    ] * 2


def test_positions_need_the_wire_client(kgroups: Run) -> None:
    code, _, err = kgroups("list", "--transport", "librdkafka")
    assert (code, err) == (
        2,
        "kgroups: error: --transport librdkafka: positions outside Kafka require the wire client\n",
    )


def test_positions_are_of_one_cluster(run_cli: Run, query: FakeCheckpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    file = query.folder.parent / "config.toml"
    file.write_text('[profiles.a]\nbootstrap = "a:1"\n[profiles.b]\nbootstrap = "b:1"\n')
    monkeypatch.setenv("KGROUPS_CONFIG", str(file))
    code, _, err = run_cli("list", "--all-profiles", "--positions", f"spark:{query.folder}")
    assert (code, err) == (
        2,
        "kgroups: error: --positions cannot be combined with several profiles: a query reads one cluster\n",
    )
