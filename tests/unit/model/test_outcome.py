from __future__ import annotations

import ast
from pathlib import Path

import kgroups
from kgroups.model.outcome import Failure, Outcome, Scope, merge

PACKAGE = Path(kgroups.__file__).parent
DROPINS = PACKAGE / "dropins"
"""They print the sentences of Kafka's tools, and no reasons."""
FAILURE = Failure(Scope.GROUP, "g", "no")


def test_exit_code_depends_only_on_failures() -> None:
    assert Outcome().exit_code == 0
    assert Outcome(("a",), notices=("by the way",)).exit_code == 0
    assert Outcome(("a",), (FAILURE,)).exit_code == 1


def test_merge_keeps_order_and_unique_notices() -> None:
    merged = merge([Outcome(("a",), (FAILURE,), ("n",)), Outcome(("b",), (FAILURE,), ("n", "m"))])
    assert merged == Outcome(("a", "b"), (FAILURE, FAILURE), ("n", "m"))
    assert merge([]) == Outcome()


def test_with_items_and_with_failures_keep_everything() -> None:
    outcome = Outcome(("a",), (FAILURE,), ("n",))
    other = Failure(Scope.TOPIC, "t", "no")
    assert outcome.with_items([1]) == Outcome((1,), (FAILURE,), ("n",))
    assert outcome.with_failures([other], ["m"]) == Outcome(("a",), (FAILURE, other), ("n", "m"))


def test_failures_sort_with_unknown_fields() -> None:
    some = [Failure(Scope.GROUP, "b", "x", broker=1), Failure(Scope.GROUP, "b", "x"), Failure(Scope.BROKER, "z", "x")]
    assert sorted(some, key=Failure.sort_key) == [some[2], some[1], some[0]]


def test_every_failure_of_kgroups_has_a_reason() -> None:
    calls = [
        (path, call)
        for path in PACKAGE.rglob("*.py")
        if DROPINS not in path.parents
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Failure"
    ]
    assert len(calls) > 50
    place = Failure._fields.index("reason")
    without = [
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path, call in calls
        if len(call.args) <= place and not {each.arg for each in call.keywords} & {"reason", None}
    ]
    assert without == []
