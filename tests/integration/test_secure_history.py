"""The pipeline on a cluster with TLS and SASL: workers receive the settings, and Spark shows no secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.history import register
from kgroups.history.jobs.collect import Plan, collect
from kgroups.history.load.read import read_table
from kgroups.history.load.store import Store
from kgroups.history.tables import COMMITS
from kgroups.sandbox.security import Secure
from tests.integration.auth_methods import GROUPS

WAY = "sasl-ssl-scram-sha-512"


def _of_spark(spark: SparkSession) -> str:
    """Return what Spark shows of queries and settings: plans with options, and the session's settings."""
    jvm_session = spark._jsparkSession  # type: ignore[attr-defined]  # PySpark has no word for what its interface shows
    queries = jvm_session.sharedState().statusStore().executionsList()
    each = (queries.apply(number) for number in range(queries.size()))
    answer = [f"{query.details()}{query.physicalPlanDescription()}" for query in each]
    return "\n".join((*answer, *map(str, spark.sparkContext.getConf().getAll())))


def test_history_of_secure_cluster_shows_no_secret(
    secure: Secure,
    spark: SparkSession,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if secure.sandbox.version.name != "4.3.1":
        pytest.skip("the pipeline is the same for every version")
    settings = load_settings(Flags(command_config=str(secure.file(WAY)), timeout=20), {}).settings
    store = Store(str(tmp_path / "history"))
    done = collect(lambda: spark, store, Plan(settings, sample_every=0.5), small=0)
    assert done.behind == 0
    groups = {row[0] for row in read_table(spark, store, COMMITS).select("group").distinct().collect()}
    assert groups >= set(GROUPS.names())  # and who read there
    register(spark, settings)
    try:
        reader = spark.read.format("kgroups-live").option("bootstrap.servers", settings.bootstrap_servers)
        live = reader.option("table", "groups").load()
        assert {row["group"] for row in live.collect()} >= set(GROUPS.names())
        live.explain("extended")
        reader = spark.read.format("kgroups-live").option("bootstrap.servers", settings.bootstrap_servers)
        named = reader.option("command.config", str(secure.file(WAY))).option("table", "groups").load()
        assert named.count() == len(GROUPS.names())
    finally:
        register(spark)
    config = tmp_path / "config.toml"
    config.write_text(f'[profiles.prod]\ncommand-config = "{secure.file(WAY)}"\n')
    monkeypatch.setitem(spark.sparkContext.environment, "KGROUPS_CONFIG", str(config))
    register(spark)
    live = spark.read.format("kgroups-live").option("profile", "prod").option("table", "groups").load()
    assert {row["group"] for row in live.where("cluster = 'prod'").collect()} >= set(GROUPS.names())
    answer = _of_spark(spark)
    assert "kgroups-live" in answer
    files = (*tmp_path.rglob("*"), *tmp_path_factory.getbasetemp().glob("spark*/spark.log"))
    answer += "".join((*capfd.readouterr(), *(file.read_text(errors="replace") for file in files if file.is_file())))
    assert not [secret for secret in secure.secrets if secret in answer]
