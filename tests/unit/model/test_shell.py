"""Names in the commands that kgroups suggests."""

from __future__ import annotations

import subprocess

import pytest

from kgroups.model.groups import is_glob
from kgroups.model.shell import group_words, group_words_in_text, shell

NAMES = [
    *("plain", "two words", "it's", "$(rm -rf)", "-x", "--all-groups", "", "tab\there", "a\u202eb", "\x1b[31m"),
    *("\\x41", "\\n", "é\n'", "*", "a*", "[ab]", "~", "#1", "=1+1", "a.b-c_d"),
]


def expanded(words: str) -> list[str]:
    """Return the arguments that a shell makes of words."""
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {words}"], capture_output=True, check=True)
    return done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("text", NAMES)
def test_shell_quotes_every_text(text: str) -> None:
    assert shell(text).isprintable() and "\u202e" not in shell(text)
    assert expanded(shell(text)) == [text]


@pytest.mark.parametrize("name", NAMES)
def test_words_select_exactly_the_group(name: str) -> None:
    *option, argument = expanded(group_words(name))
    assert argument == name
    assert option == ["--group"] or (not option and not is_glob(name) and not name.startswith("-"))
    assert group_words_in_text(name) in (group_words(name), "GROUP")
    assert "\\" not in group_words_in_text(name)
