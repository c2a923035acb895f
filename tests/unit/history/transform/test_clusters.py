"""Questions about all clusters of a store."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kgroups.cli.main import main
from kgroups.history.engine.duck import DuckDB
from kgroups.history.engine.port import Engine
from kgroups.history.jobs.known import UNKNOWN_AGE
from kgroups.history.jobs.show import Answer, TableQuery, run_sql_over_clusters, show_clusters
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import STORED
from kgroups.history.transform.definitions import BEGINNING, Span
from tests.fakes.history import History, at
from tests.fakes.object_store import s3_bucket
from tests.schemas import validate_output

Asked = Callable[..., tuple[int, str, str]]
SPAN = Span(BEGINNING, at(600))


def history_of(cluster: str) -> History:
    """Both clusters have a group of the same name; a partition of the log of ``west`` is stalled."""
    history = History()
    for second in range(3):
        history.commit("orders", second, 100 if cluster == "west" else 7)
    history.commit(f"only-{cluster}", 5, 1)
    history.read(0, (0, 4), 4, (0, 90), high_watermark=4)
    history.head(90, 200)
    if cluster == "west":
        history.read(3, (0, 10), 10, (0, 90), high_watermark=12)
        history.read(3, (10, 10), 0, (90, 90), high_watermark=12, unread_since=at(91))
    return history


def write(location: object, *clusters: str) -> list[Store]:
    stores = []
    for cluster in clusters:
        history_of(cluster).stored_in(location, cluster)
        stores.append(Store(str(location), cluster))
    return stores


@pytest.fixture
def stores(tmp_path: Path) -> list[Store]:
    return write(tmp_path / "store", "east", "west")


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Run ``kgroups history``; return its exit code, stdout, and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        words = ("history", arguments[0], "--store", str(tmp_path / "store"), *arguments[1:])
        code = main(words)
        out, err = capsys.readouterr()
        validate_output(words, out)
        return code, out, err

    return run


def table(engine: Engine, stores: list[Store], name: str, limit: int = 100) -> Answer:
    return show_clusters(engine, stores, TableQuery(name, (), (), None, at(600), limit))


@pytest.mark.parametrize("name", ["commits", "latest_offsets", "stale", "lag", "rebalances", "verdicts"])
def test_rows_are_those_of_each_cluster_after_its_id(name: str, stores: list[Store]) -> None:
    with DuckDB() as engine:
        both = table(engine, stores, name)
        alone = [table(engine, [store], name) for store in stores]
    assert both.columns[0].name == "cluster_id"
    assert both.rows == alone[0].rows + alone[1].rows
    assert both.notices == alone[0].notices + alone[1].notices
    assert {row[0] for row in both.rows} == ({"east", "west"} if name != "rebalances" else set())


def test_limit_is_for_each_cluster(stores: list[Store]) -> None:
    with DuckDB() as engine:
        assert [row[0] for row in table(engine, stores, "commits", 2).rows] == ["east", "east", "west", "west"]


def test_age_and_stalled_partitions_name_their_cluster(stores: list[Store], tmp_path: Path) -> None:
    empty = Store(str(tmp_path / "store"))
    empty.create(Identity("new", "__consumer_offsets", "2026-03-01"))
    with DuckDB() as engine:
        east, west, stalled, new = table(engine, [*stores, empty], "lag").notices
    assert east.startswith("cluster east: the store's last batch 20")
    assert west.startswith("cluster west: the store's last batch 20")
    assert stalled.startswith("cluster west: __consumer_offsets-3: 2 offsets wait behind an open transaction; ")
    assert new == f"cluster new: {UNKNOWN_AGE}"


def test_sql_sees_the_rows_of_all_clusters(stores: list[Store]) -> None:
    query = """
        select commits.cluster_id, count(*), max(lag) from commits join lag using (cluster_id, `group`)
        where `group` = 'orders' group by all order by 1
    """
    with DuckDB() as engine:
        answer = run_sql_over_clusters(engine, stores, query, SPAN)
    assert answer.rows == [("east", 3, 193), ("west", 3, 100)]
    assert [notice.split(":")[0] for notice in answer.notices] == ["cluster east", "cluster west", "cluster west"]


def test_sql_over_an_object_store_in_which_a_cluster_has_no_files() -> None:
    with s3_bucket() as bucket:
        empty = Store(f"{bucket}/history")
        empty.create(Identity("a-new", "__consumer_offsets", "2026-03-01"))
        stores = [empty, *write(f"{bucket}/history", "east", "west")]
        query = "select cluster_id, (select count(*) from stale) as groups from commits group by 1 order by 1"
        with DuckDB() as engine:
            assert run_sql_over_clusters(engine, stores, query, SPAN).rows == [("east", 4), ("west", 4)]


def test_cluster_that_cannot_be_read_is_a_failure_and_others_are_shown(
    stores: list[Store], asked: Asked, tmp_path: Path
) -> None:
    (damaged,) = (file for file in stores[0].snapshot().files(STORED[1]))
    (tmp_path / "store" / damaged.path).write_bytes(b"")
    code, out, err = asked("show", "commits", "--all-clusters", "-o", "csv")
    assert (code, {row["cluster_id"] for row in csv.DictReader(out.splitlines())}) == (1, {"west"})
    assert "kgroups: cluster east: store" in err
    assert "has 0 bytes" in err
    code, out, _ = asked("show", "commits", "--all-clusters", "-o", "json")
    assert [failure["name"] for failure in json.loads(out)["failures"]] == ["east"]
    code, out, err = asked("sql", "select count(*) from commits", "--all-clusters")
    assert (code, out) == (1, "")
    assert "has 0 bytes" in err


@pytest.mark.parametrize("output", ["table", "plain", "csv", "json", "jsonl"])
def test_every_format_has_the_cluster_first(output: str, stores: list[Store], asked: Asked) -> None:
    assert stores
    code, out, err = asked("show", "latest_offsets", "--all-clusters", "--until", "2026-03-01T13:00", "-o", output)
    assert code == 0
    assert "note: cluster east: the store's last batch" in err
    assert "note: cluster west: the store's last batch" in err
    if output == "json":
        (rows,) = (value for value in json.loads(out).values() if value and isinstance(value[0], dict))
        assert {next(iter(row.items())) for row in rows} == {("cluster_id", "east"), ("cluster_id", "west")}
    elif output == "jsonl":
        assert {next(iter(json.loads(line))) for line in out.splitlines()} == {"cluster_id"}
    else:
        first = [line.replace(",", " ").split()[0] for line in out.splitlines() if line.strip("─━ ")]
        assert first == ["cluster_id" if output == "csv" else "CLUSTER", "east", "east", "west", "west"]


def test_store_of_one_cluster_has_the_same_columns(asked: Asked, tmp_path: Path) -> None:
    write(tmp_path / "store", "east")
    _, out, _ = asked("show", "stale", "--all-clusters", "--columns", "cluster_id,group", "-o", "csv")
    assert out.splitlines() == ["cluster_id,group", "east,only-east", "east,orders"]


@pytest.mark.parametrize("command", [("stale",), ("show", "commits"), ("sql", "select 1"), ("report",)])
def test_question_without_a_selection_names_the_clusters_and_both_options(
    command: tuple[str, ...], stores: list[Store], asked: Asked
) -> None:
    assert stores
    code, out, err = asked(command[0], *command[1:])
    assert (code, out) == (1, "")
    assert "2 clusters: east, west; select one with --cluster, or all with --all-clusters" in " ".join(err.split())


def test_selections_of_clusters_are_mutually_exclusive(asked: Asked) -> None:
    code, _, err = asked("lag", "--cluster", "east", "--all-clusters")
    assert (code, "--cluster and --all-clusters are mutually exclusive" in " ".join(err.split())) == (2, True)


def test_report_on_each_cluster(stores: list[Store], asked: Asked, tmp_path: Path) -> None:
    assert stores
    output = ("--since", "2026-03-01T11:00", "--until", "2026-03-01T13:00", "--file", str(tmp_path / "r.html"))
    code, _, err = asked("report", "--all-clusters", *output)
    assert (code, err.count("is written")) == (0, 2)
    for cluster in ("east", "west"):
        text = (tmp_path / f"r-{cluster}.html").read_text()
        assert f"only-{cluster}" in text
    assert not (tmp_path / "r.html").exists()
