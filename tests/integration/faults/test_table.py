"""The table of faults and commands, on three real brokers: each cell is run, and compared with a second client.

The cells of rolling restarts are in ``test_rolling``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.faults.cell import check_cell, parameters
from tests.integration.faults.faulty_cluster import FaultyCluster
from tests.integration.faults.table import COMMANDS, IN_CI, PENDING, TABLE, TROUBLES, WORDS, cells


def test_fault_table_has_no_empty_cell() -> None:
    assert cells().keys() == {(fault, command) for fault in TROUBLES for command in COMMANDS}
    assert set(cells().values()) <= set(WORDS)
    assert len(TABLE.strip("\n").splitlines()) == len(TROUBLES) + 1
    assert cells().keys() >= PENDING.keys() | IN_CI
    assert {command for _, command in IN_CI} == set(COMMANDS)
    assert {fault for fault, _ in IN_CI} == set(TROUBLES)


@pytest.fixture(scope="module")
def faulty_cluster(needs_newest: None) -> Iterator[FaultyCluster]:
    with FaultyCluster.up(f"pytest-{os.getpid()}-faults") as started:
        yield started


@pytest.mark.parametrize(("fault", "command"), parameters(replicated=False))
def test_command_under_fault_matches_the_table(
    faulty_cluster: FaultyCluster, fault: str, command: str, tmp_path: Path
) -> None:
    check_cell(faulty_cluster, fault, command, tmp_path)
