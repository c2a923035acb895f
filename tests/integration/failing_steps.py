"""Maintain a store on a Spark that fails: ``python -m tests.integration.failing_steps STORE LIMIT SEED``.

The steps are ``expire`` (before ``LIMIT``), ``compact``, and ``materialize``.
Some attempts of tasks raise, or kill their executor, before or after they have written their files.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark import TaskContext

from kgroups.history.load.store import Store
from kgroups.history.session import open_session
from kgroups.history.upkeep.compact import compact
from kgroups.history.upkeep.expire import expire
from kgroups.history.upkeep.materialize import materialize
from kgroups.history.upkeep.on_spark import OnSpark
from tests.integration.failing_writes import SETTINGS, kill_java

FAULTS = (*("none",) * 6, "raise", "raise late", "kill", "kill late")


def main(location: str, limit: str, seed: str) -> None:
    def failing(function: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
        def run(task: Any) -> dict[str, Any]:
            context = TaskContext.get()
            assert context is not None
            attempt = context.attemptNumber()
            fault = random.Random(f"{seed}-{context.partitionId()}-{attempt}").choice(
                FAULTS if attempt < 2 else ("none",)
            )
            result = function(task) if fault.endswith(("late", "none")) else {}
            if fault.startswith("kill"):
                kill_java()
            if fault.startswith("raise"):
                raise RuntimeError("this attempt fails")
            return result

        return run

    class Failing(OnSpark):
        def __call__(self, function: Callable[[Any], dict[str, Any]], tasks: Sequence[Any]) -> list[dict[str, Any]]:
            return super().__call__(failing(function), tasks)

    log = str(Path(location).parent / "spark-steps.log")
    spark = open_session(master="local-cluster[2,1,1024]", settings=SETTINGS, log=log)
    store = Store(location)
    elsewhere = Failing(lambda: spark, store, print)
    expire(store, datetime.fromisoformat(limit), elsewhere=elsewhere)
    compact(store, elsewhere=elsewhere)
    materialize(store, elsewhere=elsewhere)


if __name__ == "__main__":
    main(*sys.argv[1:])
