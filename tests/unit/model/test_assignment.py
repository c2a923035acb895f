from __future__ import annotations

from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of


def test_assignment_sorts_partitions_and_joins_topics() -> None:
    assignment = assignment_of([("b", [3, 1]), ("a", [0]), ("b", [1, 2])])
    assert str(assignment) == "a:0;b:1,2,3"
    assert assignment.size == 4
    assert list(assignment.pairs()) == [("a", 0), ("b", 1), ("b", 2), ("b", 3)]


def test_assignment_without_partitions_is_zero_and_undecoded_is_unknown() -> None:
    assert (Assignment().size, str(Assignment())) == (0, "")
    unread = Assignment(raw=Raw(bytes(range(40)), "?"))
    assert unread.size is None
    assert str(unread) == f"40 bytes 0x{bytes(range(32)).hex()}…"


def test_subscription_text_has_topics_and_regex() -> None:
    assert str(Subscription(("a", "b"))) == "a,b"
    assert str(Subscription(("a",), regex="x.*")) == "a /x.*/"
    assert str(Subscription(regex="x.*")) == "/x.*/"
    assert str(Subscription(raw=Raw(b"\1", "?"))) == "1 bytes 0x01"
    assert str(Subscription()) == ""
