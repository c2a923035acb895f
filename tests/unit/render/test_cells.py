import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import Assignment
from kgroups.model.cluster import Node
from kgroups.render.cells import cell_text, display_width, escape, is_cell_text, pad, value_text


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
    ],
)
def test_what_cannot_be_seen_is_spelled_out(raw: str, shown: str) -> None:
    assert escape(raw) == shown


@given(st.text(st.characters()))
def test_nothing_unprintable_is_left(raw: str) -> None:
    assert escape(raw).isprintable()
    cell = cell_text(raw)
    assert cell.isprintable()
    assert cell
    assert cell == cell.strip()
    assert is_cell_text(raw) == (cell == raw) or raw == "-"


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
def test_values_in_words(value: object, text: str) -> None:
    assert value_text(value) == text
    assert cell_text(value) == (text or "-")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [(" a", r"\x20a"), ("a  ", r"a\x20\x20"), ("  ", r"\x20\x20"), (" a b ", r"\x20a b\x20"), ("a b", "a b")],
)
def test_blanks_at_the_rim_are_shown(raw: str, shown: str) -> None:
    assert cell_text(raw) == shown


@pytest.mark.parametrize(("text", "width"), [("", 0), ("abc", 3), ("東京", 4), ("e\u0301", 1), ("ｱ", 1), ("größe", 5)])
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


def test_padding_counts_columns_of_the_terminal() -> None:
    assert pad("東", 4) == "東  "
    assert pad("東", 4, right=True) == "  東"
