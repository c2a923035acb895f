import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import Assignment
from kgroups.model.cluster import Node
from kgroups.model.visible import escape, escape_message
from kgroups.render.cells import cell_text, display_width, is_cell_text, pad, value_text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain name", "plain name"),
        ("größe-東京", "größe-東京"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\tb\r\nc", r"a\tb\r\nc"),
        ("\x9b2J", r"\x9b2J"),
        ("abc\u202edcba", r"abc\u202edcba"),
        ("a\u200bb\ufeff", r"a\u200bb\ufeff"),
        ("a\u2028b\x85", r"a\u2028b\x85"),
        ("\x00\x7f", r"\x00\x7f"),
        ("lone\udc80", r"lone\udc80"),
        ("tag\U000e0041", r"tag\U000e0041"),
        (r"back\slash", r"back\slash"),
        (r"^orders\..*\d$", r"^orders\..*\d$"),
        (r"new\nline\x1b", r"new\\nline\\x1b"),
        ("end\\", r"end\\"),
        ("\\\x1b", r"\\\x1b"),
        ("orders\u034f", r"orders\u034f"),
        ("\u2800\u3164\uffa0\u115f", r"\u2800\u3164\uffa0\u115f"),
        ("heart\u2764\ufe0f", "heart\u2764" + r"\ufe0f"),
        ("e" + "\u0301" * 8, "e" + "\u0301" * 8),
        ("e" + "\u0301" * 10 + "o\u0301", "e" + "\u0301" * 8 + r"\u0301\u0301" + "o\u0301"),
    ],
)
def test_escape_replaces_unprintable_characters(raw: str, shown: str) -> None:
    assert escape(raw) == shown


def test_escape_replaces_default_ignorable_code_points() -> None:
    """Unicode's list of characters that are displayed as nothing."""
    spans = "ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e 2060-206f 3164 fe00-fe0f feff ffa0 fff0-fff8"
    spans += " 1bca0-1bca3 1d173-1d17a e0000-e0fff"
    for span in spans.split():
        first, _, last = span.partition("-")
        for point in range(int(first, 16), int(last or first, 16) + 1):
            assert escape(chr(point)).startswith("\\"), hex(point)


TRICKY = st.text(st.sampled_from("\\-x1b2d0nut \x1b\n\u0301\u034f\u202e\u2800\U000e0100é東\udc80"), max_size=12)


def _read_back(shown: str) -> str:
    return re.sub(
        r"\\(?:x..|u.{4}|U.{8}|[ntr\\])", lambda found: found[0].encode("ascii").decode("unicode_escape"), shown
    )


@given(TRICKY | st.text(st.characters()))
def test_escape_is_reversible(raw: str) -> None:
    assert _read_back(escape(raw)) == raw
    assert not raw or _read_back(cell_text(raw)) == raw


@given(TRICKY)
def test_escape_message_keeps_backslashes(raw: str) -> None:
    assert escape_message(raw).isprintable()
    assert escape_message(raw) == escape_message(escape_message(raw))
    assert escape_message(raw) == escape(raw) or "\\" in raw


@given(st.text(st.characters()))
def test_escape_leaves_nothing_unprintable(raw: str) -> None:
    assert escape(raw).isprintable()
    cell = cell_text(raw)
    assert cell.isprintable()
    assert cell
    assert cell == cell.strip()
    assert is_cell_text(raw) == (cell == raw)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-7, "-7"),
        ("", ""),
        (Node(2, "kafka-2", 9092), "kafka-2:9092 (2)"),
        (Node(2, "::1", 9092), "[::1]:9092 (2)"),
        (Node(2, "evil\x1b", 9092), r"evil\x1b:9092 (2)"),
        (Assignment(), ""),
    ],
)
def test_value_text_of_each_type(value: object, text: str) -> None:
    assert value_text(value) == text
    assert cell_text(value) == (text or "-")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [(" a", r"\x20a"), ("a  ", r"a\x20\x20"), ("  ", r"\x20\x20"), (" a b ", r"\x20a b\x20"), ("a b", "a b")],
)
def test_cell_text_shows_leading_and_trailing_blanks(raw: str, shown: str) -> None:
    assert cell_text(raw) == shown


@pytest.mark.parametrize(("text", "width"), [("", 0), ("abc", 3), ("東京", 4), ("e\u0301", 1), ("ｱ", 1), ("größe", 5)])
def test_display_width_counts_terminal_columns(text: str, width: int) -> None:
    assert display_width(text) == width


def test_pad_counts_terminal_columns() -> None:
    assert pad("東", 4) == "東  "
    assert pad("東", 4, right=True) == "  東"
