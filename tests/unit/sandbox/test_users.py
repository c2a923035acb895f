"""SCRAM users of a secure cluster."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest

from kgroups.sandbox.security import users


class OneListener:
    folder = Path()

    def bootstrap_of(self, listener: str) -> str:
        return "localhost:1,localhost:2"


def test_scram_mechanisms_of_a_user_are_added_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    under_way: set[str] = set()
    lock = threading.Lock()
    at_once: list[str] = []
    accepted: list[tuple[str, str, str]] = []

    def add(sandbox: Any, user: str, mechanism: str, password: str) -> None:
        with lock:
            at_once.extend(under_way & {user})
            under_way.add(user)
        time.sleep(0.05)
        with lock:
            under_way.remove(user)

    def log_in(address: str, user: str, mechanism: str, password: str) -> None:
        accepted.append((address, user, mechanism))

    monkeypatch.setattr(users, "_add", add)
    monkeypatch.setattr(users, "_log_in", log_in)
    users.add_scram_users(cast(Any, OneListener()), {users.OPERATOR: "a", users.AWKWARD: "b"})
    assert at_once == []
    assert sorted(accepted) == sorted(
        (address, user, mechanism)
        for address in ("localhost:1", "localhost:2")
        for user, mechanism in (
            (users.OPERATOR, "SCRAM-SHA-256"), (users.OPERATOR, "SCRAM-SHA-512"), (users.AWKWARD, "SCRAM-SHA-512"),
        )
    )  # fmt: skip
