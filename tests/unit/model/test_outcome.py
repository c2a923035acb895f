from __future__ import annotations

from kgroups.model.outcome import Failure, Outcome, Scope, merge

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
