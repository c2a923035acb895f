from __future__ import annotations

import pytest

from kgroups.errors import UsageError
from kgroups.model.topic_scope import in_scope, parse_topic_scope


def test_topic_scope_parses_topics_and_partitions() -> None:
    assert parse_topic_scope(["t", "u:0,2-4", "u: 7"]) == {"t": None, "u": frozenset({0, 2, 3, 4, 7})}


def test_topic_scope_whole_topic_includes_its_partitions() -> None:
    assert parse_topic_scope(["t:1", "t"]) == parse_topic_scope(["t", "t:1"]) == {"t": None}


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("", "has no topic name"),
        (":1", "has no topic name"),
        ("t" * 32_768 + ":0", "a name of 32,768 bytes; Kafka's protocol takes 32,767"),
        ("t\udcff", "'t\\udcff' is not UTF-8"),
        ("t:", "'' in 't:' is not a partition number"),
        ("t:1,", "is not a partition number or a range"),
        ("t:-1", "is not a partition number"),
        ("t:1-", "is not a partition number"),
        ("t:a", "is not a partition number"),
        ("t:²", "is not a partition number"),
        ("t:1:2", "is not a partition number"),
        ("t:4-2", "is in descending order"),
        ("t:0-100000", "the number is too large"),
        ("t:2147483648", "the number is too large"),
    ],
)
def test_topic_scope_rejects_invalid_text(word: str, reason: str) -> None:
    with pytest.raises(UsageError, match="--topic: ") as caught:
        parse_topic_scope([word])
    assert reason in str(caught.value)


def test_in_scope_matches_topics_and_partitions() -> None:
    scope = parse_topic_scope(["t", "u:1"])
    asked = [("t", 9), ("u", 1), ("u", 0), ("v", 0)]
    assert [in_scope(scope, *pair) for pair in asked] == [True, True, False, False]
    assert in_scope(None, "anything", 3)
