"""Rules files beyond size limits are one-line errors, not tracebacks."""

from __future__ import annotations

import pytest

from kgroups.errors import ConfigError
from kgroups.model.health.rules import parse_rules

RULE = '[[rule]]\ngroups = ["a"]\n'


@pytest.mark.parametrize(
    "text",
    [
        RULE + "max-lag = " + "[" * 100_000,
        RULE + "max-lag = " + "{a = " * 100_000,
        RULE + "max-lag = " + "9" * 10_000,
        RULE + "max-lag = 0x" + "f" * 10_000,
        RULE + "max-lag." + ".".join("a" * 5000) + " = 1",
        "[[rule]]\ngroups" + ".a" * 5000 + " = 1",
    ],
    ids=["arrays", "tables", "digits", "hexadecimal digits", "keys", "groups"],
)
def test_rules_beyond_limits_are_one_line_errors(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rules(text, "rules.toml")
    assert str(caught.value).startswith("rules.toml") and len(str(caught.value)) < 300
