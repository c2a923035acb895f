"""Shared code of the fuzz targets. It does not import atheris: seeds and regressions also run as tests."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

T = TypeVar("T")

HERE = Path(__file__).parent
REGRESSIONS = HERE / "regressions"
"""A folder per target; each file in it was a finding."""

NAMES = sorted(found.name for found in pkgutil.iter_modules([str(HERE / "targets")]))


class Target(NamedTuple):
    name: str
    one: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]


def load(name: str) -> Target:
    """Import a target."""
    module: Any = importlib.import_module(f"tests.fuzz.targets.{name}")
    return Target(name, module.one, module.seeds)


def examples(strategy: st.SearchStrategy[T], count: int = 3) -> list[T]:
    """Return the same few examples of a strategy in every run."""
    found: list[T] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(strategy)
    def collect(example: T) -> None:
        found.append(example)

    collect()
    return found


def split(data: bytes, parts: int) -> list[bytes]:
    """Cut the input into parts; the first bytes say where."""
    cuts = sorted(data[at : at + 1] for at in range(parts - 1))
    rest = data[parts - 1 :]
    places = [int.from_bytes(cut, "big") * (len(rest) + 1) // 256 for cut in cuts]
    return [rest[begin:end] for begin, end in zip([0, *places], [*places, len(rest)], strict=True)]
