"""A declarative pipeline of Spark (4.1 or later) over a store of history.

Put this file into the folder "transformations" of a pipeline, and set KGROUPS_STORE to the location of the store; then
"spark-pipelines run" updates both tables. With pyspark 4.3.0, it ends with exit code 1 for every Python data source,
also after a successful run: look at the tables, not at the exit code.
"""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from kgroups.history import register

STORE = os.environ["KGROUPS_STORE"]
spark = SparkSession.active()
register(spark)


@dp.table(comment="Every commit, as it was collected; each once.")
def all_commits() -> DataFrame:
    return spark.readStream.format("kgroups-history").options(table="commits", streamName="pipeline").load(STORE)


@dp.materialized_view(comment="The groups that no longer commit.")
def stale_groups() -> DataFrame:
    stale = spark.read.format("kgroups-history").option("table", "stale").load(STORE)
    return stale.where("status <> 'LIVE'")
