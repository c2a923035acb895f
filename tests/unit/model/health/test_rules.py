"""Check rules in files."""

from __future__ import annotations

import pytest

from kgroups.errors import ConfigError
from kgroups.model.health.limits import Limits
from kgroups.model.health.rules import limits_of, parse_rules
from kgroups.model.health.values import parse_threshold, parse_time_threshold
from kgroups.model.severity import Minimum, Threshold

WHOLE = """
[[rule]]
groups = ["billing", "orders-*"]
state = "stable"
min-members = 2
max-lag = {warning = 10, critical = 1_000}
max-topic-lag = {"o*" = 5}
max-time-lag = "30s,5m"
min-headroom = "6h,1h"
assigned = true

[[rule]]
groups = "*"
max-lag = 7
type = "classic"
"""


def test_rules_file_is_read_completely() -> None:
    first, second = parse_rules(WHOLE, "f")
    assert first.groups == ("billing", "orders-*")
    assert list(first.names) == ["billing"]
    assert first.limits == Limits(
        states=frozenset({"Stable"}),
        min_members=2,
        lag=Threshold(10, 1000),
        topic_lag=(("o*", Threshold(critical=5)),),
        time_lag=Threshold(30_000, 300_000),
        headroom=Minimum(21_600_000, 3_600_000),
        assigned=True,
    )
    assert second.limits == Limits(lag=Threshold(critical=7), type="Classic")


def test_rules_first_match_takes_precedence() -> None:
    rules = parse_rules(WHOLE, "f")
    both = limits_of("orders-1", Limits(min_members=1), rules)
    assert (both.min_members, both.lag, both.type) == (1, Threshold(10, 1000), "Classic")
    assert limits_of("x", Limits(), rules).lag == Threshold(critical=7)
    assert limits_of("x", Limits(), rules[:1]) == Limits()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f: no [[rule]] table found"),
        ("rule = 1", "f: no [[rule]] table found"),
        ("[[rules]]", "f: unknown key 'rules'; a rules file contains [[rule]] tables"),
        ("a = ", "f: Invalid value (at end of document)"),
        ("\n[[rule]]\n", 'f, line 2: missing key groups: set groups = ["name", "glob-*"]'),
        ("[[rule]]\ngroups = 1", "f, line 2: groups must be a list of names or globs"),
        ("[[rule]]\ngroups = 'a'\nmax-lag = -1", "f, line 3: max-lag: -1 is not a number of records"),
        ("[[rule]]\ngroups = 'a'\nmax-lag = true", "f, line 3: max-lag: True is not a number of records"),
        ("[[rule]]\ngroups = 'a'\nmax-lag = '9,1'", "f, line 3: max-lag: the warning limit is above the critical one"),
        (
            "[[rule]]\ngroups = 'a'\nmin-headroom = '1h,6h'",
            "f, line 3: min-headroom: the warning limit is below the critical one",
        ),
        ("[[rule]]\ngroups = 'a'\nmembers = 'x'", "f, line 3: members: 'x' is not a number"),
        ("[[rule]]\ngroups = 'a'\nassigned = 1", "f, line 3: assigned: 1 is not true or false"),
        ("[[rule]]\ngroups = 'a'\n\n[[rule]]\ngroups = 'b'\nmembers = 'x'", "f, line 6: members: 'x' is not a number"),
        ("[[rule]]\ngroups = 'a'\n'max-lag'.high = 1", "f, line 3: max-lag: a limit has warning, critical, or both"),
        ("rule = [{groups = 'a', assigned = 1}]", "f: assigned: 1 is not true or false"),
    ],
)
def test_rules_that_are_invalid_are_rejected(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_rules(text, "f")
    assert str(error.value) == message


@pytest.mark.parametrize("text", ["", "1,2,3", "x", "1.5", "-1", "5,1"])
def test_threshold_text_that_is_invalid_is_rejected(text: str) -> None:
    with pytest.raises(ValueError):
        parse_threshold(text)


def test_threshold_text_is_parsed() -> None:
    assert parse_threshold("5") == Threshold(None, 5)
    assert parse_threshold("5,7") == Threshold(5, 7)
    assert parse_time_threshold("1.5h") == Threshold(None, 5_400_000)
    with pytest.raises(ValueError):
        parse_time_threshold("0")


def test_rule_of_zero_members_overrides_the_file() -> None:
    (rule,) = parse_rules('[[rule]]\ngroups = ["*"]\nmembers = 5', "f")
    assert limits_of("a", Limits(members=0), [rule]).members == 0
