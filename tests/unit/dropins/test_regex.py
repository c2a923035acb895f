"""Messages of --validate-regex; integration tests compare them with the Java tool."""

from __future__ import annotations

import sys

import pytest

from kgroups.dropins.regex import verdict
from kgroups.errors import MissingPackage


@pytest.mark.parametrize(
    "pattern",
    ["orders-.*", "", "(?i)a|b", r"\Qa.b\E", "[[:alpha:]]+", r"\pL", r"\Q\C(?P<n>\E(?P<n>a)[(?P<n>\]]", "a{2}?{"],
)
def test_validate_regex_accepts_valid_patterns(pattern: str) -> None:
    assert verdict(pattern) == f"The regular expression `{pattern}` is valid."


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing closing )"),
        ("[a", "missing closing ]"),
        ("*", "missing argument to repetition operator"),
        ("a**", "invalid nested repetition operator"),
        ("a{1001}", "invalid repeat count"),
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("\\", "trailing backslash at end of expression"),
        (r"\8", "invalid escape sequence"),
        ("[z-a]", "invalid character class range"),
        ("(?P<n", "invalid named capture"),
        (")", "regexp/syntax: internal error"),
        (r"a\C(", "invalid escape sequence"),
        ("(?P<n>a)(?<n>b)", "duplicate capture group name"),
        ("a{*", "invalid nested repetition operator"),
        ("\udcff", "invalid UTF-8"),
    ],
)
def test_validate_regex_explains_invalid_patterns(pattern: str, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert verdict(pattern) == f"The regular expression `{pattern}` is invalid: {reason}."
    assert capfd.readouterr() == ("", "")  # RE2 itself would write to stderr


def test_validate_regex_without_re2_is_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(MissingPackage, match="google-re2"):
        verdict("a")
