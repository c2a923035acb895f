"""Every text of every command fits the terminal: lines break between words only, at four widths, with long names."""

from __future__ import annotations

import io
import os
import re
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fcntl import ioctl
from functools import partial
from pathlib import Path
from struct import pack

import pytest
from rich.cells import cell_len

from kgroups.cli.frame import progress
from kgroups.cli.main import main
from tests.fakes.hostile import HOSTILE, fill_hostile
from tests.unit.cli.test_hostile_text import COMMANDS, OLD, ORDERS, T, Terminal
from tests.unit.sandbox.test_state import STATE, write_state

TAILS = {
    80: "-payments-" + "x" * 200,
    100: "日本語" * 30,
    120: "-e\u0301\x1b[31m\u202e" * 9,
    200: "-payments-eu-west-1-reconciliation-service",
}
"""Width of the terminal -> what all names end with; blanks are tested for each view, in tests/property."""

NO_CLUSTER = {"profile", "sandbox"}
"""Commands of ``MORE`` that ask no cluster."""

MORE: dict[str, list[list[str]]] = {
    "explain": [
        ["explain", "--lagging"], ["explain", ORDERS, "--partition", f"{T}:0", "--show-record"],
        ["explain", ORDERS, "--what-if", "members=+1", "--verbose"], ["explain", ORDERS, "--what-if", HOSTILE],
    ],
    "lag": [["lag", *more] for more in (["--headroom"], ["--exact"], ["--by", "partition"], ["--columns", HOSTILE])],
    "list": [["list", "--coordinator", HOSTILE], ["list", "--type", HOSTILE], ["list", "-o", HOSTILE]],
    "describe": [["describe", "--all-groups", "--all-views"], ["describe", "--topic", T, "--topic", HOSTILE]],
    "check": [["check", ORDERS, f"missing{HOSTILE}", "--max-lag", "5", "--verbose"], ["check", "--rules", HOSTILE],
              ["check", "--lint", "rules.toml"]],
    "config": [["config", *more] for more in (["show", "--command-config", "c.properties"], ["show", "-X", HOSTILE],
               ["show", "--command-config", HOSTILE], ["check", "-X", "client.id=" + HOSTILE])],
    "profile": [["profile", "list"], ["profile", "show", f"a{HOSTILE}"], ["profile", "show", f"b{HOSTILE}"],
                ["profile", "use", f"b{HOSTILE}"]],
    "sandbox": [["sandbox", "status"], ["sandbox", "status", "--name", HOSTILE], ["sandbox", "env", "--name", "no"]],
    "reset-offsets": [["reset-offsets", OLD, "--topic", HOSTILE, "--to-latest"],
                      ["reset-offsets", OLD, "--all-topics", "--to-datetime", HOSTILE]],
}  # fmt: skip

FILES = {
    "c.properties": "bootstrap.servers=x{0}:9092,y:9092\nclient.id={0}\nsecurity.protocol=SASL_SSL\n"
    "sasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
    "username='{0}' password='p';\n",
    "config.toml": "[profiles.'a{0}']\nbootstrap-server = '{0}:9092'\n[profiles.c]\nbootstrap-server = 'c:1'\n",
    "rules.toml": "[[rules]]\ngroups = ['[a]{0}']\nmax-lag = 5\n",
}
"""The files of ``MORE``; {0} is the end of the names."""

TRUNCATED = re.compile(r"\.\.\. \([0-9]+ characters\)$")
COMMAND = re.compile(r"\s*(kgroups|chmod|kafka-[a-z]+\.sh) ")
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
    """Return whether a line is one word, the start of a long value, or one command to be copied."""
    return len(TRUNCATED.sub("", line).split()) == 1 or COMMAND.match(line) is not None


def words_of(text: str) -> list[str]:
    """Return the words without what differs from run to run."""
    return NUMBERS.sub("N", OMITTED.sub("", " ".join(text.split()))).split()


@pytest.fixture
def ask(serve: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[list[str], int], None]:
    """Run a command with long names on a terminal, and check its lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    monkeypatch.setattr(progress, "DELAY", 600)

    def run(line: list[str], width: int) -> None:
        tail = TAILS[width]
        words = [word.replace(HOSTILE, tail) for word in line]
        if words[0] not in {"diff", *NO_CLUSTER} and words[:2] != ["snapshot", "show"]:
            words += ["-b", serve(fill=partial(fill_hostile, tail=tail)).bootstrap, "--timeout", "20s"]
        with on_terminal(width, "stdout", "stderr") as shown:
            main(words)
        for each in (*shown["stdout"].splitlines(), *shown["stderr"].splitlines()):
            assert cell_len(each.rstrip()) <= width or unbreakable(each.rstrip()), (words, each)
        if not {"--execute", "--debug", "save"} & set(words):  # the order of requests is not the same in every run
            with on_terminal(width, "stdout") as unwrapped:
                main(words)
            assert words_of(shown["stderr"]) == words_of(unwrapped["stderr"]), words
        if words[0] == "explain" and "-o" not in words:
            with on_terminal(width, "stderr") as plain:
                main([*words, "-o", "plain"])
            known = {word.removesuffix(":") for word in words_of(plain["stdout"])}
            assert {word.removesuffix(":") for word in words_of(shown["stdout"])} <= known, words

    return run


@pytest.mark.parametrize("width", TAILS)
@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"watch"}))  # its screen has rules of its own
def test_commands_fit_the_terminal(command: str, width: int, ask: Callable[[list[str], int], None]) -> None:
    for line in filter(is_text, COMMANDS[command]):
        ask(line, width)


@pytest.mark.parametrize("width", TAILS)
@pytest.mark.parametrize("command", MORE)
def test_more_options_files_and_errors_fit_the_terminal(
    command: str, width: int, ask: Callable[[list[str], int], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("KGROUPS_CONFIG", "config.toml")
    tail = TAILS[width].encode("unicode_escape").decode() if width == 120 else TAILS[width]
    for name, text in FILES.items():
        Path(name).write_text(text.format(tail), encoding="utf-8")
    folder = tmp_path / "kgroups/sandbox/ux"
    folder.mkdir(parents=True)
    write_state(folder, replace(STATE, name="a-long-name-of-a-sandbox"))
    for line in MORE[command]:
        ask(line, width)


def test_names_are_long() -> None:
    assert max(map(len, TAILS.values())) > 200
    assert os.environ["COLUMNS"] == "100"
