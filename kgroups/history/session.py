"""A Spark session for the commands: starts quickly, logs to a file, and uses this Python."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from kgroups.class_archive import find_java
from kgroups.errors import HistoryError, MissingPackage, install_command

from . import register
from .java_options import java_options
from .spark_health import GATEWAY, NO_EXECUTORS, StartNotes, check_server, watch_executors

LOCAL = "local[*]"

JAVA = 17
"""The oldest Java that Spark 4 runs on."""

_LOCAL_MASTER = re.compile(r"local(\[|$)")
"""Not ``local-cluster[...]``, which has executors of its own."""

_OWN = "spark.kgroups.defaults"
"""A setting that names the settings that kgroups chose by itself."""

_UTC = {"spark.sql.session.timeZone": "UTC"}
_QUIET = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_CLUSTER_SETTINGS = {
    # Otherwise, a standalone master starts with the cores of the first executor; the default on YARN and Kubernetes.
    "spark.scheduler.minRegisteredResourcesRatio": "0.8",
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
    py_files: Sequence[str] = (),
    notify: Callable[[str], None] = lambda line: None,
) -> SparkSession:
    """Open a session with the data sources of kgroups.

    :param master: Spark master; by default this machine.
    :param remote: address of a Spark Connect server, instead of ``master``.
    :param log: file for Spark's log; by default in the cache directory.
    :param short: whether the command takes seconds only.
    :param settings: additional Spark settings, which take precedence over the settings of kgroups.
    :param py_files: Python archives and files for the executors.
    :param notify: gets a line while Spark waits: for its master, or for executors.
    :raises MissingPackage: if a package that Spark Connect needs is not installed.
    :raises HistoryError: if Java is not installed, Spark does not start, or the server rejects a setting.
    """
    if not remote and find_java() is None:
        raise HistoryError(f"Spark needs Java {JAVA} or newer: install one, or set JAVA_HOME to it")
    place = remote or master or LOCAL
    check_server(place)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("kgroups")
    given = dict(settings or {})
    if remote:
        builder, own = builder.remote(remote), _UTC
    else:
        chosen = master or (None if GATEWAY in os.environ else LOCAL)
        builder, own = builder.master(chosen) if chosen else builder, _own_settings(chosen, short=short)
    defaults = {key: value for key, value in own.items() if key not in given}
    defaults[_OWN] = ",".join(defaults)
    if py_files and not remote:
        given["spark.submit.pyFiles"] = ",".join(py_files)
    # Spark Connect only warns of a setting that it rejects here: those of the user are set later.
    for key, value in (defaults if remote else defaults | given).items():
        builder = builder.config(key, value)
    path = Path(log) if log else _cache() / "spark.log"
    try:
        with StartNotes(place, notify), _own_interrupts(), path.open("wb") as output:
            if not remote:
                _start_java({"spark.master": chosen} | defaults | given, output)
            session = builder.getOrCreate()
    except ImportError as error:  # gRPC or one of its packages
        raise MissingPackage(f"--remote needs Spark Connect ({error}): {install_command('connect')}") from None
    except (PySparkException, Py4JError, RuntimeError, OSError) as error:
        raise HistoryError(f"Spark does not start: {root_cause(error)}; see {path}") from None
    # Spark also logs the exceptions that it raises, as JSON, to stderr.
    logging.getLogger("SQLQueryContextLogger").disabled = True
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    if not remote and not _LOCAL_MASTER.match(session.sparkContext.master or LOCAL):
        watch_executors(session, notify)
    if remote:
        _apply(session, given, py_files)
    register(session)
    return session


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep the handler of Ctrl-C: Spark's calls Java while a call to Java is interrupted.

    An interrupted job ends with the application, that is, with this process.
    """
    logging.getLogger().addFilter(_is_no_interrupt)  # Py4J logs it with a traceback, by the root logger
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if is_main:
            signal.signal(signal.SIGINT, handler)


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    return not (record.exc_info and record.exc_info[0] and issubclass(record.exc_info[0], KeyboardInterrupt))


def _own_settings(master: str | None, *, short: bool) -> dict[str, str]:
    """Return the settings for a master; ``None``: spark-submit set it."""
    if master is None:
        return _UTC
    if _LOCAL_MASTER.match(master):
        java = {"spark.driver.extraJavaOptions": java_options(_cache(), short=short)}
        return _UTC | _QUIET | _LOCAL_SETTINGS | java
    return _UTC | _QUIET | _CLUSTER_SETTINGS


def _apply(session: SparkSession, settings: Mapping[str, str], py_files: Sequence[str]) -> None:
    """Pass settings and files to a Spark Connect server.

    :raises HistoryError: if it does not accept one.
    """
    for key, value in settings.items():
        try:
            session.conf.set(key, value)
        except PySparkException as error:
            raise HistoryError(
                f"--conf {key}: rejected by the Spark Connect server: {root_cause(error)}; start the server with "
                f"--conf {key} if it is a setting for its start"
            ) from None
    try:
        if py_files:
            session.addArtifacts(*py_files, pyfile=True)
    except (PySparkException, OSError, RuntimeError) as error:
        raise HistoryError(f"--py-files: not sent to the Spark Connect server: {root_cause(error)}") from None


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "kgroups")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _start_java(settings: Mapping[str, str | None], output: IO[bytes]) -> None:
    """Start Java, unless it runs. Its output goes to a file.

    Java and Spark log much that is of interest only after a failure, some of it on stdout, which is for data.
    """
    if SparkContext._gateway is None and GATEWAY not in os.environ:
        conf = SparkConf().setAll([(key, value) for key, value in settings.items() if value is not None])
        gateway = launch_gateway(conf, {"stdout": output, "stderr": output})  # type: ignore[no-untyped-call]
        SparkContext._ensure_initialized(gateway=gateway)


FEW = 200_000
"""Maximum number of records of a small store."""

FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.adaptive.enabled": "false",  # plans again after each shuffle, which pays off for large ones only
    "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than processing the rows
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""Settings that make queries over few rows much faster: optimizations for large queries have a fixed cost."""


def tune_session(spark: SparkSession, records: int) -> None:
    """Tune the session for queries to a store of this number of records, except settings that the user chose."""
    if records > FEW:
        return
    own = (spark.conf.get(_OWN, "") or "").split(",")
    for key, value in FEW_ROWS.items():
        if key in own or spark.conf.get(key, None) is None:
            spark.conf.set(key, value)


JAVA_CALL = "An error occurred while calling"
"""Start of Py4J's messages, which name an internal object."""


def root_cause(error: Exception) -> str:
    """Return the cause of Spark's error, in one line.

    Spark wraps errors in one another: the last error of kgroups among them; otherwise Java's last cause, or the first
    line.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised_here = [line for line in lines if line.startswith("kgroups.errors.")]
    if raised_here:
        return raised_here[-1].partition(": ")[2]
    if cancelled := next((line for line in lines if NO_EXECUTORS in line), None):
        reason = cancelled[cancelled.index(NO_EXECUTORS) :].partition(" SQLSTATE")[0]
        return f"a job was cancelled {reason}; check that its workers run"
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    if causes and lines[0].startswith(JAVA_CALL):
        return causes[-1]
    return lines[0] if lines else type(error).__name__
