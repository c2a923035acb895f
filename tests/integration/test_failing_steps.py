"""Maintenance on a Spark that loses executors leaves what maintenance in one process leaves, and no file remains."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from bench.spark_cluster import LOCAL
from kgroups.files.object_files import UNFINISHED
from kgroups.history.load.store import Store
from kgroups.history.tables import MATERIALIZED
from kgroups.history.upkeep.compact import compact
from kgroups.history.upkeep.expire import expire
from kgroups.history.upkeep.materialize import materialize
from tests.fakes.group_protocol import END
from tests.fakes.history import at
from tests.integration.test_spark_cluster import spark_home
from tests.spark.test_rewriting import content, materialized_rows, paths
from tests.unit.history.transform.test_expire import random_groups, stored

pytestmark = pytest.mark.spark


def test_steps_with_lost_executors_equal_those_in_one_process(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("--seed") or time.time_ns() % 100_000
    history, limit = random_groups(seed, 4).history, at(END / 4)
    here, there = (stored(tmp_path / name, history) for name in ("here", "there"))
    expire(here, limit)
    compact(here)
    materialize(here)
    command = (sys.executable, "-m", "tests.integration.failing_steps", there.location, limit.isoformat(), str(seed))
    environment = os.environ | LOCAL | {"SPARK_HOME": str(spark_home(tmp_path)), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, check=False, timeout=900, capture_output=True, text=True)
    assert done.returncode == 0, f"seed {seed}: {done.stderr[-2000:]}"
    there = Store(there.location)
    assert there.snapshot().materialized and here.snapshot().materialized
    assert content(there) == content(here), f"seed {seed}"
    for table in MATERIALIZED:
        assert materialized_rows(there, table) == materialized_rows(here, table), f"seed {seed}"
    there.delete_replaced(timedelta(0))
    there.delete_orphans(timedelta(0))
    named = {file.path for entry in there.snapshot().entries.values() for file in entry.files}
    assert paths(there) == named, f"seed {seed}"
    assert not there.storage.names(UNFINISHED), f"seed {seed}"
