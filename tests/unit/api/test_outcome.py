"""Outcomes of the Python API: iteration, raise_for_failures, and conversion to records."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator
from typing import Any

import pytest

import kgroups
from kgroups import Cluster, Failure, KgroupsError, MissingPackage, Outcome, PartialFailure, ToEarliest, ToOffset
from kgroups.cli.main import main
from kgroups.model.outcome import Scope
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.serving import serving


@pytest.fixture
def bootstrap() -> Iterator[str]:
    fake = FakeCluster(2, "4.3.1")
    fake.state.topic("orders", [0, 1], start=5, end=100)
    held = (FakeMember("m-1", {"orders": (0, 1)}),)
    fake.state.group("orders-range", 0, state="Stable", members=held, commits={("orders", 0): 50, ("orders", 1): 100})
    fake.state.group("payments-empty", 1, commits={("orders", 0): 60})
    with serving(fake):
        yield ",".join(f"127.0.0.1:{broker.port}" for broker in fake.brokers.values())


def test_outcome_iterates_over_items() -> None:
    outcome = Outcome(("a", "b"), notices=("remark",))
    assert list(outcome) == ["a", "b"] and len(outcome) == 2 and outcome.exit_code == 0
    assert outcome.raise_for_failures() is outcome


def test_outcome_in_a_condition_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"use \.items or \.failures"):
        bool(Outcome(("a",)))


def test_raise_for_failures_raises_all_of_them() -> None:
    failures = tuple(Failure(Scope.GROUP, name, "the group does not exist") for name in ("x", "y"))
    with pytest.raises(PartialFailure, match=r"^group x: the group does not exist \(and 1 more\)$") as caught:
        Outcome(("a",), failures).raise_for_failures()
    assert caught.value.failures == failures and isinstance(caught.value, KgroupsError)
    broker = Failure(Scope.BROKER, "broker 2 (kafka-2:9092)", "no response")
    with pytest.raises(PartialFailure, match=r"^broker 2 \(kafka-2:9092\): no response$"):
        Outcome((), (broker,)).raise_for_failures()


COMMANDS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("list", {}, ["list"]),
    ("offsets", {"all_groups": True}, ["describe", "--all-groups"]),
    ("lag", {"all_groups": True}, ["lag", "--all-groups"]),
    ("lag", {"all_groups": True, "by": "topic"}, ["lag", "--all-groups", "--by", "topic"]),
    ("lag", {"all_groups": True, "by": "partition"}, ["lag", "--all-groups", "--by", "partition"]),
    ("lag", {"all_groups": True, "by": "member"}, ["lag", "--all-groups", "--by", "member"]),
    (
        "plan_reset",
        {"regex": "payments-.*", "to": ToOffset(7)},
        ["reset-offsets", "--regex", "payments-.*", "--all-topics", "--to-offset", "7"],
    ),
    ("plan_delete", {"regex": "payments-.*"}, ["delete", "--regex", "payments-.*"]),
)


@pytest.mark.parametrize(("method", "arguments", "command"), COMMANDS, ids=lambda each: str(each)[:30])
def test_to_dicts_equals_json_of_the_command(
    bootstrap: str, capsys: pytest.CaptureFixture[str], method: str, arguments: dict[str, Any], command: list[str]
) -> None:
    main([*command, "-b", bootstrap, "-o", "json"])
    items = json.loads(capsys.readouterr().out)["items"]
    records = json.loads(json.dumps(getattr(Cluster(bootstrap), method)(**arguments).to_dicts()))
    assert records == items and items


def test_to_dicts_of_described_groups_nests_members(bootstrap: str, capsys: pytest.CaptureFixture[str]) -> None:
    (record,) = Cluster(bootstrap).describe("orders-range").to_dicts()
    for flag, shown in (("--state", [record]), ("--members", record["member_details"])):
        main(["describe", "orders-range", flag, "-b", bootstrap, "-o", "json"])
        for item, ours in zip(json.loads(capsys.readouterr().out)["items"], shown, strict=True):
            assert item == json.loads(json.dumps({key: ours[key] for key in item}))


def test_to_dicts_of_results_have_old_and_new_offsets(bootstrap: str) -> None:
    with Cluster(bootstrap) as cluster:
        done = cluster.apply(cluster.plan_reset("payments-empty", to=ToEarliest()).items)
        (record,) = done.to_dicts()
        assert (record["group"], record["old_offset"], record["new_offset"], record["result"]) == (
            "payments-empty",
            60,
            5,
            "applied",
        )
        deleted = cluster.delete("payments-empty").to_dicts()
        assert deleted == [{"group": "payments-empty", "result": "applied", "error": None}]


def test_conversions_to_tables(bootstrap: str) -> None:
    outcome = Cluster(bootstrap).offsets(all_groups=True)
    assert outcome.to_arrow().column("lag").to_pylist() == [row.lag for row in outcome]
    assert list(outcome.to_pandas()["current_offset"]) == [50, 100, 60]


@pytest.mark.parametrize("package", ["pyarrow", "pandas", "polars"])
def test_conversion_without_its_package_names_the_package(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == package:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    outcome: Outcome[str] = Outcome()
    convert = {"pyarrow": outcome.to_arrow, "pandas": outcome.to_pandas, "polars": outcome.to_polars}[package]
    with pytest.raises(MissingPackage, match=f"{package} is not installed; run: pip install {package}"):
        convert()


def test_every_public_name_is_importable() -> None:
    for name in kgroups.__all__:
        assert getattr(kgroups, name) is not None
    assert set(dir(kgroups)) == set(kgroups.__all__)
    assert set(kgroups.__all__) == {*kgroups.api.__all__, "__version__"}
