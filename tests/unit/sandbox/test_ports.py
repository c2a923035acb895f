"""Ports for sandboxes' servers."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kgroups.errors import SandboxError
from kgroups.sandbox import ports
from kgroups.sandbox.ports import ReservedPorts


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "kgroups" / "ports"


def test_reserved_ports_are_distinct_and_held() -> None:
    first = ReservedPorts(20)
    second = ReservedPorts(20)
    try:
        assert len({*first.numbers, *second.numbers}) == 40
    finally:
        first.release()
        second.release()


def given(count: int) -> set[int]:
    reserved = ReservedPorts(count)
    reserved.release()
    return set(reserved.numbers)


def test_port_is_not_reused_within_an_hour(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its server may not have started yet, or be down."""
    monkeypatch.setattr(ports, "_RANGE", range(20_000, 20_040))
    first = given(4)
    assert not first & given(4)
    with pytest.raises(SandboxError, match="fewer than 40 free ports"):
        given(40)
    for file in cache.iterdir():
        os.utime(file, (0, time.time() - 3601))
    assert len(given(4)) == 4


def test_ports_without_notes_folder_are_still_given(cache: Path) -> None:
    cache.parent.mkdir()
    cache.touch()
    assert len(given(3)) == 3
