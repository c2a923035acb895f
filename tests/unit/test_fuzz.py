"""The fuzz targets as tests: their seeds, and every finding that was fixed, without atheris."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import harness

FOUND = sorted(harness.REGRESSIONS.glob("*/*"))


@pytest.mark.parametrize("name", harness.NAMES)
def test_seeds_of_a_fuzz_target_pass(name: str) -> None:
    target = harness.load(name)
    seeds = list(target.seeds())
    assert seeds
    for data in (b"", b"\0", b"\xff" * 9, *seeds):
        target.one(data)


@pytest.mark.parametrize("path", FOUND, ids=[f"{path.parent.name}-{path.name}" for path in FOUND])
def test_fixed_fuzz_finding_does_not_return(path: Path) -> None:
    harness.load(path.parent.name).one(path.read_bytes())
