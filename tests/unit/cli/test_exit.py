"""Exit codes and messages after a signal or a closed output; each command is a process."""

from __future__ import annotations

import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.fakes.broker import FakeCluster, silence

KGROUPS = (sys.executable, "-m", "kgroups")


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1], end=100)
    fake.state.group("a", 0, state="Stable", commits={("orders", 0): 90})


def shell(line: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of sh; ``"$@"`` are the words."""
    command = ["sh", "-c", line, "sh", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("words", [("list",), ("describe", "--all-groups"), ("lag", "-o", "json"), ("list", "--help")])
def test_closed_stdout_is_an_error(serve: Callable, words: tuple[str, ...]) -> None:
    served = serve(fill=shop)
    server = () if "--help" in words else ("-b", served.bootstrap)
    ended = shell('"$@" >&-', *KGROUPS, *words, *server)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "kgroups: error: cannot write the output: Bad file descriptor\n"


def test_closed_stdout_is_an_error_in_kafka_commands(serve: Callable) -> None:
    served = serve(fill=shop)
    module = "kgroups.dropins.consumer_groups"
    ended = shell('"$@" >&-', sys.executable, "-m", module, "--list", "--bootstrap-server", served.bootstrap)
    assert (ended.returncode, ended.stderr) == (1, "Error: cannot write the output: Bad file descriptor\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_the_disk_takes_in_part_is_an_error(tmp_path: Path, unbuffered: str) -> None:
    line = f'ulimit -f 8; PYTHONUNBUFFERED={unbuffered} "$@" >{tmp_path}/out'
    ended = shell(line, sys.executable, "-B", "-m", "kgroups", "--help-json")  # -B: Python would cut its caches, too
    assert (ended.returncode, ended.stderr) == (1, "kgroups: error: cannot write the output: File too large\n")


def test_closed_stderr_keeps_the_exit_code(serve: Callable) -> None:
    served = serve(fill=shop)
    ended = shell('"$@" 2>&-', *KGROUPS, "list", "-b", served.bootstrap)
    assert (ended.returncode, ended.stdout) == (0, "a\n")
    assert shell('"$@" 2>&-', *KGROUPS, "list", "-b", "127.0.0.1:1").returncode == 1


INTERRUPTED = """
import importlib.abc, itertools, os, signal, sys

class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if not name.startswith(("kgroups.", "click.", "asyncio.")) or "__main__" in name:
            return None
        events = sys.modules.get("asyncio.events")
        if name == AT:
            os.kill(os.getpid(), signal.SIGINT)
        elif AT or next(NUMBERS) % EACH != FIRST:
            TOLD.write(f"{name} imported\\n")
        elif getattr(events, "_get_running_loop", int)():
            TOLD.write(f"{name} running\\n")
        elif child := os.fork():
            TOLD.write(f"{name} {os.waitpid(child, 0)[1]}\\n")
        else:
            sys.meta_path.remove(self)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.kill(os.getpid(), signal.SIGINT)
        return None

ENTRY, EACH, FIRST, AT, TOLD = (sys.argv.pop(1) for _ in range(5))
EACH, FIRST, TOLD, NUMBERS = int(EACH), int(FIRST), open(TOLD, "w", 1), itertools.count()
sys.meta_path.insert(0, Interrupt())
import kgroups.__main__ as entry
getattr(entry, ENTRY)()
"""
"""The command of an entry point, interrupted when it imports a module: no moment is left to chance. Where no module is
named, a copy of the process is interrupted. A copy would share a running event loop, so such a module is only named."""

EACH = 4
"""Imports from one interrupt to the next. Entry points share most imports, and each begins with another one."""
ENTRIES = ("main", "consumer_groups", "groups", "share_groups", "streams_groups", "streams_application_reset")


@pytest.mark.parametrize(
    ("entry", "words"),
    [("main", ("list", "-b")), ("consumer_groups", ("--list", "--bootstrap-server")),
     ("groups", ("--list", "--bootstrap-server")), ("share_groups", ("--list", "--bootstrap-server")),
     ("streams_groups", ("--list", "--bootstrap-server")),
     ("streams_application_reset", ("--application-id", "a", "--dry-run", "--bootstrap-server"))],
)  # fmt: skip
def test_interrupt_during_any_import_leaves_no_traceback(
    serve: Callable, entry: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    first = ENTRIES.index(entry) % EACH
    served = serve(fill=shop)

    def interrupted(name: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", INTERRUPTED, entry, str(EACH), str(first), name, str(tmp_path / "told")]
        return subprocess.run(
            [*command, *words, served.bootstrap], capture_output=True, text=True, timeout=120, check=False
        )

    done = interrupted()
    assert (done.returncode, done.stderr) == (0, "")
    answer = dict(line.split() for line in (tmp_path / "told").read_text().splitlines())
    assert len(answer) > 40
    for name, status in answer.items():
        if status == "running":
            ended = interrupted(name)
            assert (ended.returncode, ended.stderr) in ((130, ""), (-signal.SIGINT, "")), (name, ended)
        elif status != "imported":
            assert os.waitstatus_to_exitcode(int(status)) in (130, -signal.SIGINT), name


def test_interrupt_while_waiting_for_a_broker_exits_130(serve: Callable) -> None:
    served = serve(fill=shop)
    for broker in served.fake.brokers.values():
        broker.fault("*", silence)
    process = subprocess.Popen([*KGROUPS, "list", "-b", served.bootstrap], stderr=subprocess.PIPE, text=True)
    while not any(broker.connections for broker in served.fake.brokers.values()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")


def large(fake: FakeCluster) -> None:
    fake.state.topic("orders", range(40), end=100)
    for number in range(1000):
        commits = {("orders", partition): 90 for partition in range(8)}
        fake.state.group(f"group-{number:04}", number % 2, commits=commits)


PIECE = 65536
"""Bytes that a pipe holds: a writer with more bytes waits until they are read."""


@pytest.mark.parametrize("words", [("describe", "--all-groups", "-o", "json"), ("lag", "--by", "partition")])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signal_during_output_reports_that_it_is_incomplete(
    serve: Callable, words: tuple[str, ...], number: signal.Signals
) -> None:
    served = serve(fill=large)
    pipe = subprocess.PIPE
    with subprocess.Popen([*KGROUPS, *words, "-b", served.bootstrap], stdout=pipe, stderr=pipe) as process:
        assert process.stdout
        start = process.stdout.read(1)  # the rest does not fit into the pipe
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert len(start + out) < 4 * PIECE
    if number == signal.SIGINT:
        assert (process.returncode, err) == (130, b"")
    else:
        text = f"kgroups: error: ended by {number.name}: the output is incomplete\n"
        assert (process.returncode, err.decode()) == (-number, text)


def test_watch_that_is_terminated_ends_quietly(serve: Callable) -> None:
    served = serve(fill=shop)
    words, pipe = ["watch", "-b", served.bootstrap, "--interval", "100ms"], subprocess.PIPE
    with subprocess.Popen([*KGROUPS, *words], stdout=pipe, stderr=pipe) as process:
        assert process.stdout and process.stdout.readline()
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (-signal.SIGTERM, b"")


STARTED = """
import _signal, os, sys
_signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # as the first line of kgroups does
os.close(int(sys.argv.pop(1)))
from kgroups.__main__ import main
main()
"""
"""The command from its first line on; before that, while Python starts, Python itself prints a traceback on Ctrl-C."""


@pytest.mark.parametrize("runs", [12, pytest.param(400, marks=pytest.mark.soak)], ids=["few", "many"])
def test_signal_at_any_moment_leaves_no_traceback_and_no_success(serve: Callable, runs: int) -> None:
    """Neither while modules are imported, nor at the end; also a second signal shortly after the first."""
    served = serve(fill=large)
    source = random.Random(runs)
    commands = [
        ("list",), ("describe", "--all-groups", "-o", "json"), ("lag", "-o", "json"), ("check", "--all-groups"),
    ]  # fmt: skip
    whole = {}
    for words in commands:
        began = time.monotonic()
        done = subprocess.run([*KGROUPS, *words, "-b", served.bootstrap], capture_output=True, check=False)
        whole[words] = (time.monotonic() - began, done)
    for _ in range(runs):
        words = source.choice(commands)
        seconds, done = whole[words]
        number = source.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        moments = [source.uniform(0, 1.1 * seconds), *([source.uniform(0, 0.02)] if source.random() < 0.3 else [])]
        pipe = subprocess.PIPE
        begins, begun = os.pipe()
        command = [sys.executable, "-c", STARTED, str(begun), *words, "-b", served.bootstrap]
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, pass_fds=[begun]) as process:
            os.close(begun)
            assert os.read(begins, 1) == b""
            os.close(begins)
            sums = accumulate(moments)
            timers = [threading.Timer(seconds, process.send_signal, (number,)) for seconds in sums]
            for timer in timers:
                timer.start()
            out, err = process.communicate(timeout=120)
            for timer in timers:
                timer.cancel()
        if process.returncode == done.returncode:
            assert (out, err) == (done.stdout, done.stderr), (words, number, moments)
            continue
        assert process.returncode in (-number, 128 + number), (words, number, moments, err)
        cut = f"kgroups: error: ended by {number.name}: the output is incomplete\n".encode()
        known = b"" if number == signal.SIGINT else cut
        assert err.replace(cut, b"") in (b"", done.stderr), (words, number, moments)
        assert err.endswith(known) or out in (b"", done.stdout), (words, number, moments)


class Left(NamedTuple):
    """How a process ended, what its terminal was sent, and whether that echoes lines as before."""

    code: int
    sent: str
    as_before: bool


def on_terminal(words: tuple[str, ...], until: str, number: signal.Signals, **env: str) -> Left:
    """Runs kgroups on a pseudo-terminal of its own, and sends it a signal once it shows a text."""
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [*KGROUPS, *words],
        stdin=slave, stdout=slave, stderr=slave,
        env={**inherited, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "30", **env},
    )  # fmt: skip
    sent = b""
    deadline = time.monotonic() + 60
    while until.encode() not in sent and time.monotonic() < deadline:
        if select.select([master], [], [], 0.1)[0]:
            sent += os.read(master, 65536)
    assert until.encode() in sent, sent
    process.send_signal(number)
    code = process.wait(60)
    while select.select([master], [], [], 0)[0]:
        sent += os.read(master, 65536)
    after = termios.tcgetattr(slave)
    os.close(slave)
    os.close(master)
    return Left(code, sent.decode(), after == before)


def test_watch_ends_if_its_terminal_is_closed(serve: Callable) -> None:
    served = serve(fill=shop)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*KGROUPS, "watch", "-b", served.bootstrap, "--interval", "100ms"], stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    sent = b""
    while b"Stable" not in sent:
        sent += os.read(master, 65536)
    os.close(master)  # no controlling terminal of the process: the kernel sends no SIGHUP
    assert process.wait(60) == -signal.SIGHUP


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_watch_restores_the_terminal(serve: Callable, number: signal.Signals) -> None:
    served = serve(fill=shop)
    left = on_terminal(("watch", "-b", served.bootstrap, "--interval", "100ms"), "Stable", number)
    assert left.code == (130 if number == signal.SIGINT else -number)
    assert left.as_before
    assert left.sent.rindex("\x1b[?1049l") > left.sent.rindex("\x1b[?1049h")
    assert left.sent.rindex("\x1b[?25h") > left.sent.rindex("\x1b[?25l")
    assert "Traceback" not in left.sent


@pytest.mark.parametrize(
    ("words", "header"),
    [
        (("watch", "--interval", "100ms"), "GROUP"),
        (("describe", "--all-groups"), "PARTITION"),  # the name of the group is above its table
        (("list", "--wide"), "GROUP"),
    ],
)
def test_no_color_disables_bold_and_dim(serve: Callable, words: tuple[str, ...], header: str) -> None:
    served = serve(fill=shop)
    styled = re.compile(r"\x1b\[[0-9;]*m")
    colored = on_terminal((*words, "-b", served.bootstrap), header, signal.SIGTERM)
    assert styled.search(colored.sent)
    bare = on_terminal((*words, "-b", served.bootstrap), header, signal.SIGTERM, NO_COLOR="1")
    assert not styled.search(bare.sent)


WRITES = """
import sys
from kgroups.cli.frame.exit_status import exit_code_of

def run():
    for number, stream in enumerate((sys.stdout, sys.stderr, sys.stdout)):
        print(number, file=stream)
    return 0

sys.exit(exit_code_of(run, print))
"""


@pytest.mark.parametrize(("unbuffered", "expected"), [("1", "0\n1\n2\n"), ("", "1\n0\n2\n")])
def test_output_is_buffered_as_python_is_told_to(unbuffered: str, expected: str) -> None:
    environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-c", WRITES]
    answer = subprocess.run(
        command, stdout=-1, stderr=subprocess.STDOUT, text=True, env=environ, check=True, timeout=60
    )
    assert answer.stdout == expected


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied", "ca.pem"), "ca.pem: Permission denied"),
        (BrokenPipeError(32, "Broken pipe"), "system error: Broken pipe"),
        (OSError(24, "Too many open files"), "system error: Too many open files"),
    ],
)
def test_system_error_is_not_reported_as_a_failed_write(
    capfd: pytest.CaptureFixture[str], error: OSError, message: str
) -> None:
    from kgroups.cli.frame.exit_status import exit_code_of, print_to_stderr

    def run() -> int:
        raise error

    assert exit_code_of(run, print_to_stderr) == 1
    assert capfd.readouterr() == ("", f"{message}\n")


def test_out_of_memory_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    from kgroups.cli.frame.exit_status import exit_code_of, print_to_stderr

    def run() -> int:
        raise MemoryError

    assert exit_code_of(run, print_to_stderr) == 1
    found = capsys.readouterr()
    assert found.out == "" and found.err.startswith("out of memory; ") and found.err.count("\n") == 1
