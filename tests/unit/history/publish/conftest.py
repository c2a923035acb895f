"""Stores, a catalog, and targets to publish to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import duckdb
import pyarrow as pa
import pytest

from kgroups.history.publish.delta import DeltaTarget
from kgroups.history.publish.iceberg import IcebergTarget
from tests.fakes.published import Scene, delta, iceberg, make_stores


@pytest.fixture
def catalog(tmp_path: Path) -> dict[str, str]:
    """The properties of an Iceberg catalog in a file."""
    return {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}


@pytest.fixture(params=["iceberg", "delta"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def open_scene(form: str, catalog: dict[str, str]) -> Callable[[str], Scene]:
    def opened(location: str) -> Scene:
        store, other = make_stores(location)
        if form == "delta":
            return Scene(
                store, other, lambda: DeltaTarget(location), lambda table: delta(store, table).to_pyarrow_table()
            )
        return Scene(
            store,
            other,
            lambda: IcebergTarget(location, "test", "kgroups", catalog),
            lambda table: iceberg(catalog, table).scan().to_arrow(),
        )

    return opened


@pytest.fixture
def scene(open_scene: Callable[[str], Scene], tmp_path: Path) -> Scene:
    return open_scene(str(tmp_path / "some history"))


@pytest.fixture(params=["local", "s3"])
def any_scene(request: pytest.FixtureRequest, open_scene: Callable[[str], Scene], tmp_path: Path, s3: str) -> Scene:
    return open_scene(str(tmp_path / "some history") if request.param == "local" else f"{s3}/some history {uuid4()}")


@pytest.fixture
def duck() -> Iterator[Callable[[list[str]], pa.Table]]:
    """Read Parquet files with DuckDB."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield lambda files: connection.read_parquet(files, hive_partitioning=False).to_arrow_table()
