"""Write a report on a time span of a store."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kgroups.errors import HistoryError, UsageError

from ..load.read import read_tables
from ..load.store import Store
from ..report.data import Period, ReportData, Retention
from ..report.file import check_target, write
from ..report.gather import gather
from ..report.page import page
from ..rules import DEFAULTS, Rules
from ..session import root_cause, tune_session


def run_report(
    spark: SparkSession,
    store: Store,
    since: datetime,
    until: datetime,
    path: Path,
    force: bool = False,
    rules: Rules = DEFAULTS,
) -> Path:
    """Write the report, and return its path. An existing report is replaced when the new one is complete.

    :raises UsageError: if ``since`` is not before ``until``, or ``path`` is a file that is not a report.
    :raises HistoryError: if there is no store, or it cannot be read.
    """
    if since >= until:
        raise UsageError(f"--since {since:%Y-%m-%dT%H:%M:%SZ} is not before --until {until:%Y-%m-%dT%H:%M:%SZ}")
    check_target(path, force)
    cluster_id = store.identity().cluster_id
    try:
        data = _gather_data(spark, store, Period(since, until), cluster_id, rules)
    except PySparkException as error:
        raise HistoryError(f"history cannot be read: {root_cause(error)}") from None
    write(path, page(data), force)
    return path


def _gather_data(spark: SparkSession, store: Store, period: Period, cluster_id: str | None, rules: Rules) -> ReportData:
    from ..transform import DERIVED, Span, Tables
    from ..transform.retention import retention

    snapshot = store.snapshot()
    tune_session(spark, snapshot.records)
    span = Span(*period)
    tables = Tables(**read_tables(spark, store, snapshot))
    frames = {name: each.job(tables, span, rules) for name, each in DERIVED.items()}
    (kept,) = retention(tables, span, rules).collect()
    found = gather(frames, period, cluster_id, every=rules.bucket)
    return found._replace(retention=Retention(*kept))
