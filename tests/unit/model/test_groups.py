from __future__ import annotations

import pytest

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupState, GroupType, canonical_word


@pytest.mark.parametrize(
    "word", ["PreparingRebalance", "preparing_rebalance", "PREPARING-REBALANCE", "preparingrebalance"]
)
def test_a_word_is_found_in_any_spelling(word: str) -> None:
    assert canonical_word(word, GroupState.ALL) == "PreparingRebalance"


@pytest.mark.parametrize("word", ["", "Preparing", "stables", "Stable,Empty"])
def test_other_words_are_not(word: str) -> None:
    assert canonical_word(word, GroupState.ALL) is None


def test_every_state_and_type_is_listed() -> None:
    def words(kind: type) -> set[str]:
        return {value for name, value in vars(kind).items() if name.isupper() and isinstance(value, str)}

    assert set(GroupState.ALL) == words(GroupState) and set(GroupType.ALL) == words(GroupType)
    assert set(GroupState.ALL) > GroupState.REBALANCING


def test_an_ipv6_address_is_in_brackets() -> None:
    assert Node(1, "::1", 9092).address == "[::1]:9092"
    assert str(Node(1, "h", 9092)) == "broker 1 (h:9092)"
