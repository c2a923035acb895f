"""``kgroups history dump`` without its packages."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import pytest


def test_dump_names_only_the_packages_it_needs(
    run_cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "numpy" else find(name, *rest))
    assert run_cli("history", "dump", "-b", "127.0.0.1:1") == (
        2,
        "",
        "kgroups: error: history dump needs pyarrow and numpy: pip install pyarrow numpy\n",
    )
