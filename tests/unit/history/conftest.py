"""Stores on this machine, and in an S3 server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kgroups.history.load.store import Identity, Store
from tests.fakes.object_store import s3_bucket

IDENTITY = Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1")


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The location of an empty bucket, with everything that is needed to use it."""
    with s3_bucket() as location:
        yield location


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "history"))
    made.create(IDENTITY)
    return made


@pytest.fixture
def s3_store(s3: str) -> Store:
    made = Store(f"{s3}/some history {uuid4()}")
    made.create(IDENTITY)
    return made


@pytest.fixture(params=["store", "s3_store"])
def any_store(request: pytest.FixtureRequest) -> Store:
    found: Store = request.getfixturevalue(request.param)
    return found
