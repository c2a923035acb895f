"""A Spark session for the commands: quick to start, quiet, and told where its Python is."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kgroups.errors import HistoryError, MissingPackage

from .startup import find_java, java_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Session: TypeAlias = SparkSession
    Frame: TypeAlias = DataFrame

LOCAL = "local[*]"
GATEWAY = "PYSPARK_GATEWAY_PORT"
"""Set by spark-submit, which has its own word about master and settings."""

JAVA = 17
"""The oldest Java that Spark 4 runs on."""

_QUIET = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.log.level": "ERROR",
}
_LOCAL_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def open_session(
    *,
    master: str | None = None,
    remote: str | None = None,
    log: str | None = None,
    short: bool = False,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session on ``master`` (by default this machine), or over Spark Connect to ``remote``, that knows our sources.

    :raises MissingPackage: when PySpark is not installed, or for ``remote`` what Spark Connect needs.
    :raises HistoryError: when there is no Java, or Spark does not start.
    """
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPackage("history on Spark needs PySpark: pip install 'kgroups[pipeline]'") from None
    from . import register

    if not remote and find_java() is None:
        raise HistoryError(f"Spark needs Java {JAVA} or newer: install one, or set JAVA_HOME to it")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("kgroups")
    submitted = GATEWAY in os.environ
    options = {"spark.sql.session.timeZone": "UTC"}
    if remote:
        builder = builder.remote(remote)
    elif master and not master.startswith("local"):
        builder = builder.master(master)
        options = _QUIET
    elif master or not submitted:
        builder = builder.master(master or LOCAL)
        options = _QUIET | _LOCAL_SETTINGS | {"spark.driver.extraJavaOptions": java_options(_cache(), short=short)}
    for key, value in (options | dict(settings or {})).items():
        builder = builder.config(key, value)
    # Java and Spark have much to say that concerns nobody until something fails.
    path = Path(log) if log else _cache() / "spark.log"
    try:
        with _words_to(path):
            session = builder.getOrCreate()
    except ImportError as error:  # of gRPC and what belongs to it
        raise MissingPackage(f"--remote needs Spark Connect ({error}): pip install 'kgroups[connect]'") from None
    except (PySparkException, RuntimeError, OSError) as error:
        raise HistoryError(f"Spark does not start: {reason(error)}; see {path}") from None
    # What Spark tells its caller it also logs, as JSON, to standard error.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    register(session)
    return session


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "kgroups")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def _words_to(path: Path) -> Iterator[None]:
    """What is started meanwhile writes its standard output and error there, for good; this process has its own back
    after. Java tells of its troubles on standard output, which is for data."""
    sys.stdout.flush()
    sys.stderr.flush()
    own = {number: os.dup(number) for number in (1, 2)}
    try:
        with path.open("wb") as file:
            for number in own:
                os.dup2(file.fileno(), number)
        yield
    finally:
        for number, kept in own.items():
            os.dup2(kept, number)
            os.close(kept)


FEW = 200_000
"""Records of a store that count as few."""

FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.adaptive.enabled": "false",  # it plans anew behind each shuffle, for the sake of large ones
    "spark.sql.codegen.wholeStage": "false",  # to compile takes longer than the rows
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""Settings with which a query over few rows costs a fraction: what makes large ones fast has its price."""


def suit(spark: SparkSession, records: int) -> None:
    """Makes the session fit for questions to a store of so many records."""
    if records <= FEW:
        for key, value in FEW_ROWS.items():
            spark.conf.set(key, value)


def reason(error: Exception) -> str:
    """What went wrong, in a line: the last of the errors that Spark wraps into one another that is one of ours, else
    the first line of its own."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own = [line for line in lines if line.startswith("kgroups.errors.")]
    return own[-1].partition(": ")[2] if own else lines[0] if lines else type(error).__name__
