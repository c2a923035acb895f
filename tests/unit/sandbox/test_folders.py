"""Folders of jars and state, and their locks."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kgroups.class_archive import class_archives
from kgroups.errors import SandboxError
from kgroups.sandbox.folders import jar_cache, locked, port_notes, state_root


def test_folders_follow_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert jar_cache() == tmp_path / "c" / "kgroups" / "kafka"
    assert class_archives() == tmp_path / "c" / "kgroups" / "classes"
    assert port_notes() == tmp_path / "c" / "kgroups" / "ports"
    assert state_root() == tmp_path / ".local" / "state" / "kgroups" / "sandbox"


def test_locked_folder_reports_second_holder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lock"
    with locked(path), pytest.raises(SandboxError, match="busy now"), locked(path, busy="busy now"):
        pass
    with locked(path, busy="busy now"):
        pass


def test_deleted_lock_admits_waiters_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    inside: list[int] = []
    most: list[int] = []

    def hold() -> None:
        for _ in range(50):
            with locked(path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()
                path.unlink()

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(most) == 200
    assert max(most) == 1
