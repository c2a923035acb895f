"""Regular expressions of users match whole names in linear time."""

from __future__ import annotations

import pytest

from kgroups.admin.query.pattern import compile_pattern
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from tests.fakes.asking import describe, names
from tests.fakes.broker import FakeCluster

HOSTILE = "a" * 30_000 + "!"
"""Python's engine would need longer than the age of the universe to reject it with the pattern below."""


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("orders-.*", "orders-eu", True),
        ("orders", "orders-eu", False),
        ("rders", "orders", False),
        ("a|ab", "ab", True),
        ("", "", True),
        ("", "a", False),
        ("é.", "é\U0001f600", True),
        (".*", "two\nlines", False),
        ("(?s).*", "two\nlines", True),
        ("a$", "a\n", False),
        ("(?i)A", "a", True),
        (".", "\0", True),
    ],
)
def test_pattern_matches_whole_names(pattern: str, name: str, matches: bool) -> None:
    assert compile_pattern(pattern, "--regex").fullmatch(name) is matches


def test_hostile_group_name_does_not_stall_a_pattern() -> None:
    fake = FakeCluster(1)
    fake.state.group(HOSTILE, 0)
    fake.state.group("good-one", 0)
    found = describe(fake, Selection(pattern=compile_pattern("([a-z]+-?)+", "--regex")))
    assert names(found) == ["good-one"] and not found.failures


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<!a)", r"(a)\1", "(?>a)", "a++", "a{100000}", "(", "\ud800"])
def test_compile_pattern_unsupported_by_re2_names_the_flag(pattern: str) -> None:
    with pytest.raises(UsageError, match=r"^--regex: "):
        compile_pattern(pattern, "--regex")
