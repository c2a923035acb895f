"""Processes identified by PID and command line."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox.process import _has_ended, kill_now, send_signal, spawn, state_of, stop_all

SLEEP = "import time; print('ready', flush=True); time.sleep(600)"
HEADLESS = """
import ctypes, pathlib, sys, threading, time
def stay():
    while not pathlib.Path(sys.argv[1], "end").exists():
        time.sleep(0.01)
threading.Thread(target=stay, daemon=True).start()
print("ready", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEP


def start(code: str, folder: Path) -> tuple[int, str]:
    """Started when it said so; the mark is its folder."""
    log = folder / "it.log"
    pid = spawn([sys.executable, "-c", code, f"{folder}/"], log)
    wait_for(lambda: "ready\n" in log.read_text())
    return pid, f"{folder}/"


def wait_for(condition: object) -> None:
    assert callable(condition)
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_process_states_are_reported(tmp_path: Path) -> None:
    pid, mark = start(SLEEP, tmp_path)
    assert state_of(pid, mark) == "running"
    assert os.getsid(pid) == pid  # Ctrl-C in our terminal does not reach it
    send_signal(pid, mark, signal.SIGSTOP)
    wait_for(lambda: state_of(pid, mark) == "paused")
    stop_all([pid], mark, grace=60)  # a paused one too, in its own way
    assert state_of(pid, mark) == "gone"
    assert not send_signal(pid, mark, signal.SIGTERM)


def test_child_does_not_keep_descriptors_open(tmp_path: Path) -> None:
    """For example, the lock of a shell that starts a sandbox."""
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    pid, mark = start(SLEEP, tmp_path)
    os.close(writer)
    assert select.select([reader], [], [], 60)[0] and os.read(reader, 1) == b""
    os.close(reader)
    kill_now(pid, mark)


def test_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    pid, mark = start(DEAF, tmp_path)
    stop_all([pid], mark, grace=0.1)
    assert state_of(pid, mark) == "gone"


def test_kill_now_ends_process_and_may_be_repeated(tmp_path: Path) -> None:
    pid, mark = start(DEAF, tmp_path)
    kill_now(pid, mark)
    assert state_of(pid, mark) == "gone"
    kill_now(pid, mark)  # twice is no error


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="other systems do not report threads")
def test_process_has_ended_only_with_its_last_thread(tmp_path: Path) -> None:
    """It may be a zombie already, and hold its ports for a while."""
    pid, mark = start(HEADLESS, tmp_path)
    wait_for(lambda: state_of(pid, mark) == "gone")
    threads = Path("/proc", str(pid), "task")
    assert len(list(threads.iterdir())) == 2 and not _has_ended(pid, mark)
    (tmp_path / "end").touch()
    wait_for(lambda: _has_ended(pid, mark))
    assert len(list(threads.glob("*"))) <= 1  # a zombie until its parent has its exit code


def test_process_of_another_command_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        stop_all([stranger.pid], f"{tmp_path}/", grace=0)
        assert stranger.poll() is None
        assert state_of(stranger.pid, f"{tmp_path}/") == "gone"
        stranger.communicate(b"\n")
    assert stranger.returncode == 0


@pytest.mark.parametrize("pid", [0, -1])
def test_invalid_pid_is_gone(pid: int) -> None:
    assert state_of(pid, "") == "gone"


def test_log_of_previous_run_is_kept(tmp_path: Path) -> None:
    for _ in range(2):
        pid, mark = start(SLEEP, tmp_path)
        stop_all([pid], mark, grace=60)
    assert (tmp_path / "it.log").read_text() == "ready\n"
    assert (tmp_path / "it.old.log").read_text() == "ready\n"


def test_spawn_of_missing_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"cannot start .*/none: No such file"):
        spawn([str(tmp_path / "none")], tmp_path / "it.log")
