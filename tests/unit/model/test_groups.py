from __future__ import annotations

import pytest

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupState, GroupType, canonical_word


@pytest.mark.parametrize(
    "word", ["PreparingRebalance", "preparing_rebalance", "PREPARING-REBALANCE", "preparingrebalance"]
)
def test_canonical_word_accepts_any_spelling(word: str) -> None:
    assert canonical_word(word, GroupState.ALL) == "PreparingRebalance"


@pytest.mark.parametrize("word", ["", "Preparing", "stables", "Stable,Empty"])
def test_canonical_word_rejects_other_words(word: str) -> None:
    assert canonical_word(word, GroupState.ALL) is None


def test_all_lists_every_state_and_type() -> None:
    def words(kind: type) -> set[str]:
        return {value for name, value in vars(kind).items() if name.isupper() and isinstance(value, str)}

    assert set(GroupState.ALL) == words(GroupState) and set(GroupType.SHOWN) == words(GroupType)
    assert set(GroupState.ALL) > GroupState.REBALANCING


def test_node_address_has_brackets_around_ipv6() -> None:
    assert Node(1, "::1", 9092).address == "[::1]:9092"
    assert str(Node(1, "h", 9092)) == "broker 1 (h:9092)"
