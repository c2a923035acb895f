"""The engine of a command, as the options choose it: DuckDB in this process, or Spark."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kgroups.cli.frame.exit_status import is_quiet, print_to_stderr
from kgroups.cli.frame.options import check_exclusive
from kgroups.errors import UsageError

from ..spark_health import GATEWAY
from .options import need_pipeline
from .spark_settings import SQL, is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ..engine import Engine as QueryEngine
    from ..load.store import Store
    from ..upkeep.rewrite import Elsewhere


class Engine(NamedTuple):
    """The Spark options."""

    master: str | None
    remote: str | None
    log: str | None
    conf: tuple[tuple[str, str], ...] = ()
    packages: str | None = None
    py_files: tuple[str, ...] = ()

    @property
    def chosen(self) -> bool:
        """Whether the user has chosen where, or how, Spark runs."""
        return bool(self.master or self.remote or self.passed) or GATEWAY in os.environ

    @property
    def passed(self) -> list[str]:
        """The given options that are passed to Spark."""
        given = {"--conf": self.conf, "--packages": self.packages, "--py-files": self.py_files}
        return [name for name, value in given.items() if value]

    def check(self) -> None:
        """Check that the options can be used together.

        :raises UsageError: if not.
        """
        check_exclusive(master=bool(self.master), remote=bool(self.remote))
        if self.passed and GATEWAY in os.environ:
            raise UsageError(
                f"{self.passed[0]} has no effect on a Spark that runs; pass it to spark-submit, before submit.py"
            )
        for file in self.py_files:
            if not is_remote(file) and not Path(file).is_file():
                raise UsageError(f"--py-files {file}: no such file")
        if self.remote:
            self._check_remote()

    def _check_remote(self) -> None:
        if self.packages:
            raise UsageError("--packages has no effect with --remote; start the Spark Connect server with --packages")
        for key, _ in self.conf:
            if not key.startswith(SQL):
                raise UsageError(
                    f"--conf {key} has no effect with --remote, where only {SQL}* can be set; start the Spark Connect "
                    f"server with --conf {key}"
                )
        for file in self.py_files:
            if is_remote(file):
                raise UsageError(f"--py-files {file}: with --remote, files must be local; download it first")

    def open(self, *, short: bool = True) -> SparkSession:
        """Return a session.

        :param short: whether the command runs for seconds, not continuously.
        :raises MissingPackage: if a package that Spark Connect needs is not installed.
        :raises HistoryError: if Spark does not start, or a Spark Connect server rejects a setting.
        """
        from ..session import open_session

        gc.enable()  # history commands may run for days, and the proxies of Java objects are reference cycles
        settings = dict(self.conf) | ({"spark.jars.packages": self.packages} if self.packages else {})
        return open_session(
            master=self.master,
            remote=self.remote,
            log=self.log,
            short=short,
            settings=settings,
            py_files=self.py_files,
            notify=lambda line: None if is_quiet() else print_to_stderr(f"kgroups: {line}"),
        )


def engine_of(spark_log: str | None, **given: Any) -> Engine:
    """Return the Spark options.

    :raises UsageError: if they cannot be used together.
    """
    engine = Engine(log=spark_log, **given)
    engine.check()
    return engine


def _uses_spark(engine: Engine, runs_on: str | None) -> bool:
    """Return whether the user chose Spark.

    :raises UsageError: if an option of Spark is given with another engine.
    :raises MissingPackage: if Spark is not installed; the caller checks the packages of DuckDB.
    """
    if runs_on == "duckdb" and engine.chosen:
        raise UsageError("--engine duckdb runs in this process; omit the options of Spark")
    if runs_on != "spark" and not engine.chosen:
        return False
    need_pipeline()
    return True


@contextmanager
def open_engine(engine: Engine, runs_on: str | None) -> Iterator[QueryEngine]:
    """Return the engine of a query: DuckDB in this process, unless the user chose Spark (see :func:`_uses_spark`)."""
    if _uses_spark(engine, runs_on):
        from ..engine.spark import Spark

        yield Spark(engine.open())
        return
    from ..engine.duck import DuckDB

    with DuckDB() as opened:
        yield opened


def elsewhere_of(engine: Engine, runs_on: str | None, store: Store) -> Elsewhere | None:
    """Return what runs the tasks of a step of maintenance on Spark, if the user chose it; see :func:`_uses_spark`."""
    if not _uses_spark(engine, runs_on):
        return None
    from ..upkeep.on_spark import OnSpark

    return OnSpark(engine.open, store, print_to_stderr)
