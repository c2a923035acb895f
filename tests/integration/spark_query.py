"""A Spark query over Kafka, run by a Spark of its own: each line of standard input ends one attempt of a batch.

Arguments: bootstrap servers, topics, checkpoint, jars. Prints JSON: ``{"in_flight": N}`` when a batch is being
processed, until the line ``go`` or ``fail`` arrives; ``{"done": N, ...}`` with the query's progress;
``{"restart": true}`` after a failure.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def process(frame: DataFrame, number: int) -> None:
    if not frame.isEmpty():
        tell(in_flight=number)
        if sys.stdin.readline().strip() != "go":
            raise RuntimeError("told to fail")


def main(servers: str, topics: str, checkpoint: str, jars: str) -> None:
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {
        "spark.jars": jars,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.extraJavaOptions": options,
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    read = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", topics)
    source = read.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", "40").load()
    while True:
        query = source.writeStream.foreachBatch(process).option("checkpointLocation", checkpoint).start()
        last = None
        while query.isActive:
            progress = query.lastProgress
            if progress and progress["batchId"] != last and progress["numInputRows"]:
                last = progress["batchId"]
                (found,) = progress["sources"]
                tell(done=last, **{name: json.loads(found[name]) for name in ("endOffset", "latestOffset")})
            time.sleep(0.02)
        try:
            query.awaitTermination()
        except StreamingQueryException:
            tell(restart=True)


main(*sys.argv[1:])
