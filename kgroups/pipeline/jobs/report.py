"""A page about what a store holds of a span of time."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kgroups.errors import HistoryError, UsageError

from ..load.read import read_tables
from ..load.store import Store
from ..report.data import Period, ReportData
from ..report.file import check_target, write
from ..report.gather import gather
from ..report.page import page
from ..session import reason, suit


def run_report(
    spark: SparkSession, location: str, since: datetime, until: datetime, path: Path, force: bool = False
) -> Path:
    """Writes the page, and gives its path. Whatever was there is replaced when the new page is whole.

    :raises UsageError: when ``since`` is not before ``until``, or ``path`` is a file that is no report.
    :raises HistoryError: when there is no store, or it cannot be read.
    """
    if since >= until:
        raise UsageError(f"--since {since:%Y-%m-%dT%H:%M:%SZ} is not before --until {until:%Y-%m-%dT%H:%M:%SZ}")
    check_target(path, force)
    store = Store(location)
    cluster_id = store.identity().cluster_id
    try:
        data = _gathered(spark, store, Period(since, until), cluster_id)
    except PySparkException as error:
        raise HistoryError(f"history cannot be read: {reason(error)}") from None
    write(path, page(data), force)
    return path


def _gathered(spark: SparkSession, store: Store, period: Period, cluster_id: str | None) -> ReportData:
    from ..transform import DERIVED, Rules, Span, Tables

    suit(spark, store.records)
    rules, span = Rules(), Span(*period)
    tables = Tables(**read_tables(spark, store))
    frames = {name: each.job(tables, span, rules) for name, each in DERIVED.items()}
    return gather(frames, period, cluster_id, every=rules.bucket)
