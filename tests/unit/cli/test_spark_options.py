"""The options that are passed to Spark: what is rejected before Spark starts, and what Spark gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kgroups.history import session
from kgroups.history.run.engine import Engine
from kgroups.history.session import FEW_ROWS, tune_session
from kgroups.history.spark_health import GATEWAY
from tests.unit.conftest import Ran

Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _not_submitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(GATEWAY, raising=False)


@pytest.fixture
def archive(tmp_path: Path) -> str:
    file = tmp_path / "kgroups.zip"
    file.write_bytes(b"")
    return str(file)


def collect(run: Run, *options: str) -> str:
    """Return the error of a collection with these options, which must be rejected before anything is contacted."""
    ran = run("history", "collect", "--store", "unused", "-b", "127.0.0.1:1", *options)
    assert (ran.code, ran.out) == (2, "")
    return ran.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--conf", "spark.executor.memory"], "--conf': 'spark.executor.memory' must be KEY=VALUE"),
        (["--conf", "executor.memory=1g"], "must start with spark. to be a setting of Spark"),
        (["--conf", "spark.master=local"], "--conf': spark.master: use --master"),
        (["--conf", "spark.jars.packages=a:b:1"], "--conf': spark.jars.packages: use --packages"),
        (["--conf", "spark.sql.session.timeZone=CET"], "kgroups requires UTC"),
        (["--packages", "org.apache.spark:hadoop-cloud"], "--packages': 'org.apache.spark:hadoop-cloud' must be GROUP"),
        (["--packages", ","], "must be GROUP:ARTIFACT:VERSION"),
        (["--py-files", "missing.zip"], "--py-files missing.zip: no such file"),
        (["--py-files", "kgroups-1.whl"], "copy the wheel to NAME.zip"),
        (["--py-files", ","], "must be FILE"),
        (["--master", "local[2]", "--remote", "sc://h:1"], "--master and --remote are mutually exclusive"),
        (["--remote", "sc://h:1", "--packages", "a:b:1"], "start the Spark Connect server with --packages"),
        (["--remote", "sc://h:1", "--conf", "spark.executor.memory=1g"], "only spark.sql.* can be set"),
        (["--remote", "sc://h:1", "--py-files", "s3://bucket/x.zip"], "files must be local"),
    ],
)
def test_invalid_option_is_rejected_before_anything_starts(run_cli: Run, options: list[str], expected: str) -> None:
    assert expected in collect(run_cli, *options)


@pytest.mark.parametrize("option", [("--conf", "spark.executor.memory=1g"), ("--packages", "a:b:1")])
def test_options_of_spark_submit_are_rejected_under_it(
    run_cli: Run, monkeypatch: pytest.MonkeyPatch, option: tuple[str, str]
) -> None:
    monkeypatch.setenv(GATEWAY, "1")
    assert f"{option[0]} has no effect on a Spark that runs; pass it to spark-submit" in collect(run_cli, *option)


@pytest.mark.parametrize(
    "engine",
    [
        Engine(None, None, None, conf=(("spark.ui.enabled", "true"),)),
        Engine(None, None, None, packages="a:b:1"),
        Engine(None, None, None, py_files=("kgroups.zip",)),
        Engine("local[2]", None, None),
        Engine(None, "sc://h:1", None),
    ],
)
def test_any_option_of_spark_chooses_spark(engine: Engine) -> None:
    assert engine.chosen
    assert not Engine(None, None, "spark.log").chosen


class Builder:
    """A builder of sessions that records what it gets."""

    def __init__(self) -> None:
        self.conf: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Callable[[str], Builder]:
        return lambda value: self.config(f"spark.{name}", value)

    def config(self, key: str, value: str) -> Builder:
        self.conf[key] = value
        return self

    @property
    def sparkContext(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(master=self.conf.get("spark.master"))

    def getOrCreate(self) -> Builder:  # noqa: N802
        return self


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Engine], Mapping[str, str]]:
    """Return the settings of the session that options open."""
    from pyspark.sql import SparkSession

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("kgroups.history.session.register", lambda spark: None)
    monkeypatch.setattr(session, "check_server", lambda url: None)
    monkeypatch.setattr(session, "watch_executors", lambda session, notify: None)
    monkeypatch.setattr(session, "find_java", lambda: Path("java"))
    monkeypatch.setattr(session, "_start_java", lambda settings, output: None)
    monkeypatch.setattr(session, "java_options", lambda cache, short: "-XX:Own")

    def open_it(engine: Engine) -> Mapping[str, str]:
        builder = Builder()
        monkeypatch.setattr(SparkSession, "builder", builder)
        engine.open()
        return builder.conf

    return open_it


def test_packages_and_files_are_passed_as_spark_submit_passes_them(
    opened: Callable[[Engine], Mapping[str, str]], archive: str
) -> None:
    conf = opened(Engine("spark://h:7077", None, None, packages="a:b:1,c:d:2", py_files=(archive, "s3://b/x.py")))
    assert conf["spark.master"] == "spark://h:7077"
    assert conf["spark.jars.packages"] == "a:b:1,c:d:2"
    assert conf["spark.submit.pyFiles"] == f"{archive},s3://b/x.py"


@pytest.mark.parametrize("master", [None, "local[2]", "local-cluster[2,1,1024]", "spark://h:7077"])
def test_conf_takes_precedence_over_defaults(opened: Callable[[Engine], Mapping[str, str]], master: str | None) -> None:
    defaults = opened(Engine(master, None, None))
    named = defaults["spark.kgroups.defaults"].split(",")
    assert named
    assert set(named) <= defaults.keys()
    keys = [key for key in named if key != "spark.sql.session.timeZone"]
    conf = opened(Engine(master, None, None, conf=tuple((key, "mine") for key in keys)))
    assert {conf[key] for key in keys} == {"mine"}
    assert conf["spark.kgroups.defaults"] == "spark.sql.session.timeZone"


def test_cluster_waits_for_executors_and_keeps_its_java(opened: Callable[[Engine], Mapping[str, str]]) -> None:
    for master in ("local-cluster[2,1,1024]", "spark://h:7077"):
        conf = opened(Engine(master, None, None))
        assert conf["spark.scheduler.minRegisteredResourcesRatio"] == "0.8"
        assert "spark.driver.extraJavaOptions" not in conf


class Session:
    """A session with these settings."""

    def __init__(self, **conf: str) -> None:
        self.values = {key.replace("_", "."): value for key, value in conf.items()}
        self.conf = self

    def get(self, key: str, default: str | None) -> str | None:
        return self.values.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.values[key] = value


PARTITIONS = "spark.sql.shuffle.partitions"


def test_small_store_does_not_change_settings_of_the_user() -> None:
    spark = Session(spark_sql_shuffle_partitions="4", spark_sql_adaptive_enabled="true")
    tune_session(spark, 10)  # type: ignore[arg-type]
    assert spark.values[PARTITIONS] == "4"
    assert spark.values["spark.sql.adaptive.enabled"] == "true"
    assert spark.values["spark.sql.codegen.wholeStage"] == "false"


def test_small_store_changes_defaults_of_kgroups() -> None:
    spark = Session(spark_sql_shuffle_partitions="4", spark_kgroups_defaults=f"spark.ui.enabled,{PARTITIONS}")
    tune_session(spark, 10)  # type: ignore[arg-type]
    assert {key: spark.values[key] for key in FEW_ROWS} == FEW_ROWS
