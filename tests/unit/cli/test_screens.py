"""Every text of every command fits the terminal: lines break between words only, at four widths, with long names."""

from __future__ import annotations

import io
import os
import re
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fcntl import ioctl
from functools import partial
from pathlib import Path
from struct import pack

import pytest
from rich.cells import cell_len

from kgroups.cli.frame import progress
from kgroups.cli.main import main
from tests.fakes.hostile import HOSTILE, fill_hostile
from tests.unit.cli.test_hostile_text import COMMANDS, Terminal

TAILS = {
    80: "-payments-" + "x" * 200,
    100: "日本語" * 30,
    120: "-e\u0301\x1b[31m\u202e" * 9,
    200: "-payments-eu-west-1-reconciliation-service",
}
"""Width of the terminal -> what all names end with; blanks are tested for each view, in tests/property."""

STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
OMITTED = re.compile(r"kgroups: note: columns omitted to fit the terminal: .*?; use --(wide|output=plain)")
NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)?")


def is_text(words: list[str]) -> bool:
    """Return whether the command writes tables or sentences, and not data in a format."""
    fmt = words[words.index("-o") + 1] if "-o" in words else "auto"
    return "--export" not in words and fmt in ("auto", "table", "text")


@contextmanager
def on_terminal(width: int, *names: str) -> Iterator[dict[str, str]]:
    """Give what is written to stdout and stderr, without styles; the named ones are a terminal each."""
    shown: dict[str, str] = {}
    streams: dict[str, Terminal | io.StringIO] = {}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("stdout", "stderr"):
            each = streams[name] = Terminal() if name in names else io.StringIO()
            if isinstance(each, Terminal):
                ioctl(each.stream.fileno(), termios.TIOCSWINSZ, pack("HHHH", 50, width, 0, 0))
            patch.setattr(sys, name, getattr(each, "stream", each))
        yield shown
    for name, each in streams.items():
        text = each.close() if isinstance(each, Terminal) else each.getvalue()
        shown[name] = STYLES.sub("", text).replace("\r", "")


def unbreakable(line: str) -> bool:
    """Return whether a line is one word, or one command to be copied."""
    return len(line.split()) == 1 or line.lstrip().startswith("kgroups ")


def words_of(text: str) -> list[str]:
    """Return the words without what differs from run to run."""
    return NUMBERS.sub("N", OMITTED.sub("", " ".join(text.split()))).split()


@pytest.mark.parametrize("width", TAILS)
@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"watch"}))  # its screen has rules of its own
def test_commands_fit_the_terminal(
    command: str, width: int, serve: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(progress, "DELAY", 600)
    tail = TAILS[width]
    for line in filter(is_text, COMMANDS[command]):
        served = serve(fill=partial(fill_hostile, tail=tail))
        words = [word.replace(HOSTILE, tail) for word in line]
        if words[0] != "diff" and words[:2] != ["snapshot", "show"]:
            words += ["-b", served.bootstrap, "--timeout", "20s"]
        with on_terminal(width, "stdout", "stderr") as shown:
            main(words)
        for each in (*shown["stdout"].splitlines(), *shown["stderr"].splitlines()):
            assert cell_len(each.rstrip()) <= width or unbreakable(each.rstrip()), (words, each)
        if not {"--execute", "--debug", "save"} & set(words):  # the order of requests is not the same in every run
            with on_terminal(width, "stdout") as unwrapped:
                main(words)
            assert words_of(shown["stderr"]) == words_of(unwrapped["stderr"]), words
        if command == "explain" and "-o" not in words:
            with on_terminal(width, "stderr") as plain:
                main([*words, "-o", "plain"])
            known = {word.removesuffix(":") for word in words_of(plain["stdout"])}
            assert {word.removesuffix(":") for word in words_of(shown["stdout"])} <= known, words


def test_names_are_long() -> None:
    assert max(map(len, TAILS.values())) > 200
    assert os.environ["COLUMNS"] == "100"
