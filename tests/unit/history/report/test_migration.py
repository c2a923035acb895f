"""The verdicts about migrations in the report: their file, their numbers, and what blocks groups."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kgroups.errors import HistoryError, UsageError
from kgroups.history.report.data import Blocked, Kept, Migrations
from kgroups.history.report.lists import sections
from kgroups.history.report.migration import SCHEMA, read_verdicts, sum_up
from kgroups.model.migration import Verdict
from kgroups.render.jsonout import VERSION
from tests.fakes.report import busy_day

KNOWN = [("a", "classic"), ("b", "classic"), ("c", "consumer"), ("s", "share"), ("new", None)]


def judgment(verdict: str, *rules: str) -> dict[str, Any]:
    blockers = [{"rule": rule, "text": f"{rule} in words", "fixes": [f"fix {rule}"]} for rule in rules]
    return {"verdict": verdict, "blockers": blockers}


def item(group: str, upgrade: dict[str, Any], rollback: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"group": group, "upgrade": upgrade, "rollback": rollback, **more}


ITEMS = [
    item("a", judgment("blocked", "user-data", "group-full"), judgment("ready-if", "group-full")),
    item("b", judgment("ready-if", "group-full"), judgment("ready")),
    item("c", judgment("done"), judgment("ready")),
]


def save(folder: Path, items: list[dict[str, Any]], **envelope: object) -> Path:
    path = folder / "verdicts.json"
    path.write_text(json.dumps({"schema": SCHEMA, "cluster_id": "C", "items": items} | envelope))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def numbers(found: Migrations) -> dict[str, tuple[int, int]]:
    return {each.verdict.value: each[1:] for each in found.verdicts if any(each[1:])}


def test_schema_is_that_of_explain() -> None:
    assert f"kgroups/explain-migration/{VERSION}" == SCHEMA


def test_verdicts_are_counted_and_groups_that_the_file_lacks_are_unknown(tmp_path: Path) -> None:
    judged = read_verdicts(save(tmp_path, ITEMS), "C")
    found = sum_up(judged, KNOWN, rows=50, names=5)
    assert (found.file, found.written) == ("verdicts.json", datetime.fromtimestamp(1_700_000_000, UTC))
    assert numbers(found) == {
        "ready": (0, 2), "ready-if": (1, 1), "blocked": (1, 0), "unknown": (1, 1), "done": (1, 0),
        "not-applicable": (1, 1),
    }  # fmt: skip
    assert found.missing == 1
    assert found.blocked.rows == (
        Blocked("upgrade", "group-full", ("a", "b"), 2, "group-full in words", ("fix group-full",)),
        Blocked("rollback", "group-full", ("a",), 1, "group-full in words", ("fix group-full",)),
        Blocked("upgrade", "user-data", ("a",), 1, "user-data in words", ("fix user-data",)),
    )
    assert sum_up(judged, KNOWN, rows=1, names=1).blocked == Kept(
        (Blocked("upgrade", "group-full", ("a",), 2, "group-full in words", ("fix group-full",)),), 3
    )


def test_without_a_file_nothing_is_ready() -> None:
    found = sum_up(None, KNOWN, rows=50, names=5)
    assert numbers(found) == {"unknown": (4, 4), "not-applicable": (1, 1)}
    shown = sections(busy_day()._replace(migrations=found))["migration"]
    assert "is unknown: history contains neither" in shown and "--all-groups --migration -o json" in shown


def test_section_names_its_source_and_what_is_missing() -> None:
    shown = sections(busy_day())["migration"]
    assert "not from history, but from the file" in shown
    assert "4 groups of history are not in it, and unknown" in shown
    assert (
        "READY IF" not in shown
        and ">READY<" in shown
        and "49 of 51 rows are left out: <code>kgroups explain --all-groups --migration<" in shown
    )


def test_verdicts_of_several_clusters_are_those_of_the_cluster_of_the_store(tmp_path: Path) -> None:
    items = [
        each | {"cluster": name} for each in ITEMS for name in ("eu", "us") if (name, each["group"]) != ("us", "a")
    ]
    path = save(tmp_path, items, cluster_id=None, clusters={"eu": "C", "us": "D", "down": None})
    assert list(read_verdicts(path, "C").groups) == ["a", "b", "c"]
    assert list(read_verdicts(path, "D").groups) == ["b", "c"]


@pytest.mark.parametrize("cluster", ["another", None])
def test_verdicts_of_another_cluster_are_rejected(tmp_path: Path, cluster: str | None) -> None:
    with pytest.raises(HistoryError, match="has no verdicts about the cluster of the store"):
        read_verdicts(save(tmp_path, ITEMS, cluster_id="C" if cluster else None), cluster)


@pytest.mark.parametrize(
    "text",
    [
        "", "no JSON", "[]", "{}", '{"schema": "kgroups/list-migration/v1", "cluster_id": "C", "items": []}',
        json.dumps({"schema": SCHEMA, "cluster_id": "C", "items": [{"group": "a"}]}),
        json.dumps({"schema": SCHEMA, "cluster_id": "C", "items": [item("a", judgment("new"), judgment("ready"))]}),
        json.dumps({"schema": SCHEMA, "cluster_id": "C", "clusters": ["C"], "items": []}),
    ],
)  # fmt: skip
def test_other_files_are_rejected(tmp_path: Path, text: str) -> None:
    path = tmp_path / "verdicts.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="is not the output of kgroups explain --all-groups --migration -o json"):
        read_verdicts(path, "C")


def test_every_verdict_has_a_row() -> None:
    assert [each.verdict for each in sum_up(None, [], rows=1, names=1).verdicts] == list(Verdict)
