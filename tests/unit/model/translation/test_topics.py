from __future__ import annotations

import pytest

from kgroups.errors import UsageError
from kgroups.model.translation.topics import check_distinct, parse_topic_map, renamed


@pytest.mark.parametrize(
    ("topic", "copy"),
    [
        ("orders", "west.orders"),
        ("clicks", "east.clicks"),
        ("app-1-changelog", "east.app-1-changelog"),
        ("a.b", "east.a.b"),
    ],
)
def test_names_come_before_patterns(topic: str, copy: str) -> None:
    assert renamed(topic, parse_topic_map(["*=east.*", "orders=west.orders"])) == copy


def test_topics_without_rule_have_no_new_name() -> None:
    assert renamed("clicks", parse_topic_map(["orders=west.orders", "pay-*-v1=*"])) is None
    assert renamed("pay-eu-v1", parse_topic_map(["pay-*-v1=*"])) == "eu"
    assert renamed("pay-v1", parse_topic_map(["pay-*-v1=*"])) is None


@pytest.mark.parametrize("value", ["orders", "=x", "x=", "*=x", "a*b*=c*d*", "x=*"])
def test_invalid_rules_are_rejected(value: str) -> None:
    with pytest.raises(UsageError, match="--topic-map"):
        parse_topic_map([value])


def test_topic_with_two_copies_is_rejected() -> None:
    with pytest.raises(UsageError, match="'a' is mapped to 'b' and to 'c'"):
        parse_topic_map(["a=b", "a=c"])


def test_two_topics_with_one_copy_are_rejected() -> None:
    check_distinct([("a", "b"), ("a", "b"), ("c", "d")])
    with pytest.raises(UsageError, match="'a' and 'c' would both be 'b'"):
        check_distinct([("a", "b"), ("c", "b")])
