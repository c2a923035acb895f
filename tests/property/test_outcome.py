from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.outcome import Failure, Outcome, Scope, merge

words = st.text(max_size=3)
failures = st.builds(Failure, st.sampled_from(Scope), words, words, broker=st.none() | st.integers(0, 3))
outcomes = st.builds(
    Outcome[int],
    st.lists(st.integers(), max_size=4).map(tuple),
    st.lists(failures, max_size=4).map(tuple),
    st.lists(words, max_size=3, unique=True).map(tuple),
)


@given(outcomes, outcomes, outcomes)
def test_merge_is_associative(a: Outcome[int], b: Outcome[int], c: Outcome[int]) -> None:
    assert merge([merge([a, b]), c]) == merge([a, merge([b, c])]) == merge([a, b, c])


@given(outcomes)
def test_empty_outcome_is_neutral_in_merge(outcome: Outcome[int]) -> None:
    assert merge([Outcome(), outcome]) == merge([outcome, Outcome()]) == merge([outcome]) == outcome


@given(st.lists(outcomes, max_size=5))
def test_merge_loses_nothing(parts: list[Outcome[int]]) -> None:
    merged = merge(parts)
    assert Counter(merged.items) == sum((Counter(part.items) for part in parts), Counter())
    assert Counter(merged.failures) == sum((Counter(part.failures) for part in parts), Counter())
    assert set(merged.notices) == {notice for part in parts for notice in part.notices}
    assert len(merged.notices) == len(set(merged.notices))
    assert merged.exit_code == max((part.exit_code for part in parts), default=0)


@given(st.lists(failures, max_size=6))
def test_failures_are_always_sortable(some: list[Failure]) -> None:
    assert Counter(sorted(some, key=Failure.sort_key)) == Counter(some)
