"""The files of a release, built once for the Python that runs the tests."""

from __future__ import annotations

import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.distribution.build import PYTHONS, WHEELHOUSE, build
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember
from tests.fakes.serving import serving

PYTHON = f"3.{sys.version_info.minor}"


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files of a release."""
    assert PYTHON in PYTHONS, f"add Python {PYTHON} to tests/distribution/build.py"
    folder = tmp_path_factory.mktemp("release")
    build(folder, [PYTHON])
    return folder


@pytest.fixture(scope="session")
def wheelhouse(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of all wheels, extracted."""
    folder = tmp_path_factory.mktemp("wheelhouse")
    with tarfile.open(release / f"{WHEELHOUSE}.tar") as archive:
        archive.extractall(folder, filter="data")
    return folder / WHEELHOUSE


@pytest.fixture(scope="session")
def bootstrap() -> Iterator[str]:
    """Bootstrap servers of brokers with the group orders, with a lag of 10 and a member."""
    fake = FakeCluster()
    fake.state.topic("orders", [0], end=100)
    members = (FakeMember("m-1", {"orders": (0,)}),)
    fake.state.group("orders", 0, state="Stable", members=members, commits={("orders", 0): 90})
    with serving(fake):
        yield fake.settings().bootstrap_servers
