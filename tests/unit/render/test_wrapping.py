import pytest

from kgroups.render.wrapping import fill, wrap


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("kgroups: note: one two three", ["kgroups: note: one", "  two three"]),
        ("  a path", ["  a path"]),
        ("group 'with a blank' is new", ["group 'with a blank'", "  is new"]),
        ("the group's name and its state", ["the group's name and", "  its state"]),
        ("do: kgroups delete a --execute", ["do:", "kgroups delete a --execute"]),
        ("do: kgroups delete a; or wait", ["do:", "  kgroups delete a;", "  or wait"]),
        ("next: kafka-acls.sh --list --topic t", ["next:", "kafka-acls.sh --list --topic t"]),
        ("so run chmod 600 /etc/a; or not", ["so run", "  chmod 600 /etc/a;", "  or not"]),
        ("of " + "x" * 30 + " y", ["of", "x" * 30, "  y"]),
        ("日本 日本 日本 日本", ["日本 日本 日本 日本"]),
        ("日本 日本 日本 日本 日本", ["日本 日本 日本 日本", "  日本"]),
        ("", [""]),
    ],
)
def test_text_breaks_between_words_only(text: str, lines: list[str]) -> None:
    assert wrap(text, 20).split("\n") == lines
    assert wrap(text, None) == text


def test_styles_have_no_width() -> None:
    assert wrap("one two", 15, first="- \x1b[31mWARNING\x1b[0m: ").split("\n") == [
        "- \x1b[31mWARNING\x1b[0m: one",
        "  two",
    ]


def test_first_unit_that_is_too_wide_starts_as_far_left_as_necessary() -> None:
    assert fill(["x" * 9, "y"], 10, first="  ") == [" " + "x" * 9, "  y"]
