"""Run the tasks of a step of maintenance on Spark: each with DuckDB, where it reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kgroups.errors import HistoryError

from ..load.store import Store
from ..load.tasks import Notify, Result, check_visible, run_on_spark
from ..session import root_cause

T = TypeVar("T")


class OnSpark:
    """What a step needs to run its tasks on Spark, which starts with the first of them."""

    def __init__(self, open_session: Callable[[], SparkSession], store: Store, notify: Notify) -> None:
        self._open_session, self._store, self._notify = open_session, store, notify
        self._spark: SparkSession | None = None

    def __call__(self, function: Callable[[T], dict[str, Any]], tasks: Sequence[T]) -> list[Result]:
        """Run a function for each task. A task that Spark repeats has written files that no entry names.

        :raises HistoryError: if Spark does not start, or a task fails.
        """
        try:
            if self._spark is None:
                self._spark = self._open_session()
                check_visible(self._spark, self._store, self._notify)
            return run_on_spark(self._spark, self._notify, function, tasks)
        except (PySparkException, Py4JError) as error:
            reason = (
                root_cause(error).removeprefix(f"store {self._store.shown}: ").removesuffix("; nothing was changed")
            )
            raise HistoryError(f"store {self._store.shown}: {reason}; nothing was changed") from None
