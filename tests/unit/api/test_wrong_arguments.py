"""Arguments of a wrong type are usage errors that name the argument, whatever the method and the parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kgroups
from kgroups import Cluster, Commit, FromPlan, GroupFilters, KgroupsError, Limits, Threshold, ToEarliest, UsageError

NOWHERE = "127.0.0.1:1"
WRONG: tuple[Any, ...] = (object(), 5, 1.5, b"x", [5], {5: 5}, {"x": object()}, ("g", "t"), None, "", float("nan"))
NEEDED: dict[str, dict[str, Any]] = {
    "check": {"limits": Limits(lag=Threshold(critical=1))},
    "plan_reset": {"to": ToEarliest()},
    "plan_delete_offsets": {"topics": ["t"]},
    "plan_settings": {"values": {"consumer.session.timeout.ms": 45000}},
}


def methods() -> Iterator[tuple[str, str]]:
    for name, method in inspect.getmembers(Cluster, inspect.isfunction):
        if not name.startswith("_") and name != "close":
            for parameter in list(inspect.signature(method).parameters.values())[1:]:
                names = GroupFilters.__annotations__ if parameter.name == "filters" else (parameter.name,)
                yield from ((name, each) for each in names)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cluster:
    monkeypatch.chdir(tmp_path)
    return Cluster(NOWHERE, timeout=5)


@pytest.mark.parametrize(("method", "parameter"), list(methods()))
def test_wrong_type_is_a_usage_error(cluster: Cluster, method: str, parameter: str) -> None:
    function = getattr(cluster, method)
    kinds = {each.name: each.kind for each in inspect.signature(function).parameters.values()}
    filtered = parameter not in kinds
    refused = 0
    for value in WRONG:
        keywords = dict(NEEDED.get(method, {}))
        positional: list[Any] = ["g"] if "groups" in kinds and not filtered else []
        if not filtered and kinds[parameter] is inspect.Parameter.VAR_POSITIONAL:
            positional = [value]
        else:
            for needed in [each for each, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]:
                positional = [value if needed == parameter else "f", *positional]
            if filtered or kinds[parameter] is inspect.Parameter.KEYWORD_ONLY:
                keywords[parameter] = value
        try:
            function(*positional, **keywords)
        except UsageError as error:
            refused += 1
            assert str(error)
        except KgroupsError:
            pass  # the value is fine, but there is no broker
    assert refused


@pytest.mark.parametrize("parameter", [*inspect.signature(Cluster.__init__).parameters][1:])
def test_wrong_type_of_a_setting_is_a_usage_error(parameter: str) -> None:
    for value in (object(), [5], {5: 5}, b"x"):
        with pytest.raises(UsageError, match=parameter if parameter != "bootstrap" else "bootstrap"):
            Cluster(**{"bootstrap": NOWHERE, parameter: value})


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        ([("g", "t", 0, 11)], "FromPlan takes a dict"),
        ({("g", "t"): 11}, r"\('g', 't'\) is not \(group, topic, partition\)"),
        ({("g", "t", "0"): 11}, "is not (group, topic, partition)"),
        ({("g", "t", True): 11}, "is not (group, topic, partition)"),
        ({("g", "t", -1): 11}, "is not (group, topic, partition)"),
        ({("", "t", 0): 11}, "is not (group, topic, partition)"),
        ({"g": 11}, "'g' is not (group, topic, partition)"),
        ({("g", "t", 0): -1}, "is not an offset"),
        ({("g", "t", 0): "11"}, "'11' is not an offset, a Commit, or None"),
        ({("g", "t", 0): 1.5}, "1.5 is not an offset"),
        ({("g", "t", 0): Commit(1, 11)}, "is for partition 1"),
        ({("g", "t", 0): Commit(0, -11)}, "is not an offset"),
    ],
)
def test_wrong_offsets_are_a_usage_error(cluster: Cluster, offsets: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words if words.startswith(r"\(") else re.escape(words)):
        cluster.plan_reset("g", to=FromPlan(offsets))


def test_offsets_by_number_are_commits() -> None:
    plan = FromPlan({("g", "t", 0): 11, ("g", "t", 1): Commit(1, 5, metadata="m"), ("g", "t", 2): None})
    assert plan.moves == {("g", "t", 0): Commit(0, 11), ("g", "t", 1): Commit(1, 5, metadata="m"), ("g", "t", 2): None}
    assert plan == FromPlan(
        {("g", "t", 0): Commit(0, 11), ("g", "t", 1): Commit(1, 5, metadata="m"), ("g", "t", 2): None}
    )


def test_every_type_of_a_plan_is_public() -> None:
    assert {"FromPlan", "Commit", "PlannedOffset"} <= {*kgroups.__all__}
