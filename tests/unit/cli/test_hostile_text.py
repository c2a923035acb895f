"""No control character from the cluster reaches a terminal: every command and format, on a real pty."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode

from kgroups.cli.main import cli, main
from kgroups.dropins import consumer_groups, groups, share_groups, streams_application_reset, streams_groups
from kgroups.dropins.command import Tool
from kgroups.render.health import FORMATS as CHECK_FORMATS
from kgroups.render.output import FORMATS
from tests.fakes.hostile import FORGED, HOSTILE, Bend, brokers_address, fill_hostile, hostile, states_and_types

OURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r\n|\r(?=\x1b\[K)|\r(?=kgroups: )|[ \n\t]")
"""Colors, the cursor, and the line of progress: what rich and kgroups write on a terminal themselves."""

ORDERS, OLD, APP, SHARE = f"orders{HOSTILE}", f"old{HOSTILE}", f"app{HOSTILE}", f"share-old{HOSTILE}"
T = f"t{HOSTILE}"

COMMANDS: dict[str, list[list[str]]] = {
    "list": [["list", "-o", fmt, "--wide"] for fmt in ("auto", *FORMATS)] + [["list", "--debug"]],
    "describe": [
        *(["describe", "-o", fmt, "--wide", "--all-groups"] for fmt in ("auto", *FORMATS)),
        *(["describe", "--all-groups", view, *more] for view in ("--members", "--state", "--offsets")
          for more in (["--verbose"], ["-o", "csv"], ["--deep"])),
        ["describe", "--all-groups", "--topology"],
        ["describe", ORDERS, f"missing{HOSTILE}", "--debug"],
    ],
    "lag": [["lag", *more] for more in (["--wide"], ["--time"], ["--by-topic"], ["--by-member"], ["-o", "csv"])],
    "watch": [["watch", "--count", "1", "--interval", "10ms"]],
    "check": [
        ["check", "--all-groups", "--max-lag", "5", "--state", "stable", "--assigned", "-o", fmt]
        for fmt in CHECK_FORMATS
    ] + [["check", "--all-groups", "--max-redeliveries", "1", "--max-progress-age", "1m"]],
    "explain": [
        *(["explain", ORDERS, OLD, "-o", fmt] for fmt in ("auto", "json", "plain")),
        ["explain", APP], ["explain", SHARE],
    ],
    "reset-offsets": [
        ["reset-offsets", "--all-groups", "--all-topics", "--to-earliest"],
        ["reset-offsets", OLD, "--all-topics", "--to-earliest", "--export"],
        ["reset-offsets", OLD, "--topic", T, "--to-latest", "--execute", "--yes"],
    ],
    "delete-offsets": [
        ["delete-offsets", "--group", OLD, "--topic", T],
        ["delete-offsets", OLD, "--topic", T, "--execute", "--yes"],
    ],
    "delete": [["delete", "--all-groups"], ["delete", OLD, "--execute", "--yes"]],
    "remove-members": [
        ["remove-members", ORDERS, "--all"],
        ["remove-members", ORDERS, "--all-members", "--execute", "--yes"],
    ],
    "settings": [
        *(["settings", "show", "--all-groups", "-o", fmt] for fmt in ("auto", "csv", "html")),
        ["settings", "show", f"missing{HOSTILE}", "--key", HOSTILE], ["settings", "diff", "-f", f"no{HOSTILE}"],
        ["settings", "set", f"{HOSTILE}={HOSTILE}", ORDERS, f"missing{HOSTILE}"],
        ["settings", "unset", f"a{HOSTILE}", ORDERS],
    ],
    "snapshot": [
        ["snapshot", "save", "a", "--all-groups", "--with-records", "--wide", "--debug"],
        *(["snapshot", "show", "a", view, "-o", fmt] for view in ("--groups", "--offsets", "--members", "--configs")
          for fmt in ("auto", "csv", "html")),
        ["snapshot", "show", "a", "--wide"],
        ["snapshot", "save", "b", f"missing{HOSTILE}", OLD],
        ["snapshot", "diff", "a"], ["snapshot", "diff", "b", "-o", "csv"],
        ["snapshot", "restore", "a", "--exact"], ["snapshot", "restore", "a", f"missing{HOSTILE}"],
        ["snapshot", "restore", "a", OLD, "--execute", "--yes"], ["snapshot", "restore", "a", "--settings", "--exact"],
    ],
    "diff": [
        ["snapshot", "save", "a", "--all-groups"], ["snapshot", "save", "b", OLD],
        ["diff", "a", "b"], ["diff", "b", "a", "-o", "plain"], ["diff", HOSTILE, "a"],
    ],
    "owners": [
        ["owners", f"{T}:0", "gone"], ["owners", "--all-groups", "--wide"],
        ["owners", "--all-groups", "--host", HOSTILE],
    ],
    "waves": [
        *(["waves", "-o", fmt] for fmt in ("auto", "csv", "html", "dot")), ["waves", "--list"], ["waves", "--links"],
        ["waves", "--wide", "--ignore-topic", f"{HOSTILE}*", "--ignore-group", f"{HOSTILE}*"],
        ["waves", f"missing{HOSTILE}"], ["waves", "--topic", HOSTILE],
    ],
    "undo": [
        ["undo"], ["undo", f"no{HOSTILE}"],
        ["reset-offsets", OLD, "--topic", T, "--to-earliest", "--undo-file", "u.json", "--execute", "--yes"],
        ["undo", "u.json"], ["undo", "u.json", "--execute", "--yes"],
    ],
    "config": [["config", "check"], ["config", "check", "--debug"], ["config", "show"]],
}  # fmt: skip

NO_CLUSTER = {"completion", "exporter", "history", "mcp", "parity", "profile", "sandbox", "schema", "translate"}
"""Ask no cluster or two, or show nothing of it on a terminal: the exporter serves Prometheus; mcp has its own tests."""

TOOLS = [
    (consumer_groups.TOOL, [
        ["--list"], ["--list", "--state", "--type"],
        *(["--describe", "--all-groups", view, *more] for view in ("--offsets", "--members", "--state")
          for more in ([], ["--verbose"])),
        ["--describe", "--group", f"missing{HOSTILE}"],
        ["--reset-offsets", "--all-groups", "--all-topics", "--to-earliest"],
        ["--reset-offsets", "--group", OLD, "--all-topics", "--to-earliest", "--export"],
        ["--reset-offsets", "--group", OLD, "--topic", T, "--to-datetime", "2100-01-01T00:00:00.000", "--execute"],
        ["--delete-offsets", "--group", ORDERS, "--topic", T], ["--delete-offsets", "--group", OLD, "--topic", T],
        ["--delete", "--group", ORDERS], ["--delete", "--group", OLD], ["--delete", "--group", f"missing{HOSTILE}"],
    ]),
    (groups.TOOL, [["--list"], ["--list", "--consumer"]]),
    (share_groups.TOOL, [
        ["--list"], ["--list", "--state"],
        *(["--describe", "--all-groups", view, "--verbose"] for view in ("--offsets", "--members", "--state")),
        ["--reset-offsets", "--group", SHARE, "--topic", T, "--to-earliest", "--execute"],
        ["--delete-offsets", "--group", SHARE, "--topic", T],
        ["--delete", "--all-groups"],
    ]),
    (streams_groups.TOOL, [
        ["--list"], ["--list", "--state"],
        *(["--describe", "--all-groups", view, "--verbose"] for view in ("--offsets", "--members", "--state")),
        ["--reset-offsets", "--group", f"app-old{HOSTILE}", "--all-input-topics", "--to-earliest", "--execute",
         "--delete-all-internal-topics"],
        ["--reset-offsets", "--group", f"app-old{HOSTILE}", "--all-input-topics", "--to-earliest", "--export"],
        ["--delete-offsets", "--group", f"app-old{HOSTILE}", "--all-input-topics"],
        ["--delete", "--all-groups", "--delete-all-internal-topics"],
    ]),
    (streams_application_reset.TOOL, [
        ["--application-id", ORDERS, "--dry-run"], ["--application-id", ORDERS, "--input-topics", T, "--force"],
        ["--application-id", OLD, "--input-topics", f"{T},missing{HOSTILE}", "--to-latest"],
        ["--application-id", OLD, "--internal-topics", f"missing{HOSTILE}", "--intermediate-topics", T],
        ["--application-id", f"missing{HOSTILE}", "--dry-run"],
    ]),
]  # fmt: skip

BENT: dict[str, Bend] = {
    "all but addresses": hostile(brokers_address),
    "all but what decides": hostile(states_and_types),
    "addresses too": hostile(),
    "refused": hostile(states_and_types, ErrorCode.group_authorization_failed),
    "unknown errors": hostile(states_and_types, ErrorCode.unknown_server_error),
}


class Terminal:
    """Both ends of a pseudo-terminal, and what came out at the other end."""

    def __init__(self) -> None:
        self._master, slave = os.openpty()
        self.stream = open(slave, "w", encoding="utf-8", errors="backslashreplace")  # noqa: PTH123, SIM115
        self._pieces: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._master, 65536)
            except OSError:
                return
            if not piece:
                return
            self._pieces.append(piece)

    def close(self) -> str:
        self.stream.close()
        self._reader.join(60)
        os.close(self._master)
        return b"".join(self._pieces).decode()


@contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """stdout and stderr are one terminal inside the block; gives what it was shown, once that is over."""
    opened, before = Terminal(), (sys.stdout, sys.stderr)
    shown: list[str] = []
    sys.stdout = sys.stderr = opened.stream
    try:
        yield lambda: shown[0]
    finally:
        sys.stdout, sys.stderr = before
        shown.append(opened.close())


def obeyed(shown: str) -> list[str]:
    """What a terminal would obey, or not show, of what it was sent."""
    return [found for found in OURS.sub("", shown) if not found.isprintable() or found == "\u034f"]


def check(shown: str, words: list[str]) -> None:
    assert obeyed(shown) == [], (words, shown)
    assert FORGED not in [line.strip()[: len(FORGED)] for line in shown.splitlines()], (words, shown)
    assert "Traceback" not in shown, (words, shown)


def test_line_break_in_plan_file_does_not_break_output_lines(
    _in_tmp_path: None, serve: Callable, tmp_path: Path
) -> None:
    served = serve(fill=fill_hostile)
    (tmp_path / "plan.csv").write_text(f'"{HOSTILE}",0,5\n"{HOSTILE}",x,5\n', newline="")
    for words in (["g", "--from-file", "plan.csv"], ["g", "--from-file", f"no{HOSTILE}", "--export"], [HOSTILE]):
        with terminal() as shown:
            main(["reset-offsets", *words, "-b", served.bootstrap])
        check(shown(), words)


def test_check_finds_control_characters_a_terminal_obeys() -> None:
    assert obeyed("\x1b[1mGROUP\x1b[0m\r\n\r\x1b[Kok") == []
    assert obeyed(HOSTILE)[:2] == ["\x1b", "\x07"] and "\u034f" in obeyed(HOSTILE) and "\r" in obeyed(HOSTILE)


def test_every_command_is_covered() -> None:
    assert set(cli.commands) == {*COMMANDS, *NO_CLUSTER}


@pytest.fixture
def _in_tmp_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stdin", io.StringIO())


@pytest.mark.parametrize("bent", BENT)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_print_no_raw_control_characters(_in_tmp_path: None, serve: Callable, command: str, bent: str) -> None:
    for words in COMMANDS[command]:
        served = serve(fill=fill_hostile)
        for broker in served.fake.brokers.values():
            broker.bend = BENT[bent]
        with terminal() as shown:
            files_only = words[0] == "diff" or words[:2] == ["snapshot", "show"]
            main([*words, *(() if files_only else ("-b", served.bootstrap, "--timeout", "20s"))])
        check(shown(), words)


@pytest.mark.parametrize("bent", BENT)
@pytest.mark.parametrize(("tool", "lines"), TOOLS, ids=[tool._name for tool, _ in TOOLS])
def test_kafka_commands_print_no_raw_control_characters(
    _in_tmp_path: None, serve: Callable, tool: Tool, lines: list[list[str]], bent: str
) -> None:
    for words in lines:
        served = serve(fill=fill_hostile)
        for broker in served.fake.brokers.values():
            broker.bend = BENT[bent]
        with terminal() as shown:
            tool.main([*words, "--bootstrap-server", served.bootstrap])
        check(shown(), words)
