"""The positions of a real Spark query: as the query reports them itself, at every batch, and never too far."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import obstore
import pytest
from click.testing import CliRunner
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from obstore.store import from_url

from kgroups.cli.main import cli
from kgroups.sandbox import Sandbox
from kgroups.sandbox.fetch import fetch_by_ivy, fetch_by_maven, find_ivy, find_maven
from kgroups.sandbox.folders import jar_cache, locked
from kgroups.sandbox.java import find_java
from kgroups.sandbox.versions import Coordinate
from tests.fakes.object_store import s3_bucket
from tests.integration.versions import MAIN

pytestmark = pytest.mark.spark

SPARK = "4.2.0"
"""The newest version whose Kafka source is published; that of the environment may be newer."""
JARS = {
    Coordinate("org.apache.spark", "spark-sql-kafka-0-10_2.13", SPARK, alone=True): (
        "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705"
    ),
    Coordinate("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", SPARK, alone=True): (
        "641c7947afc8aa1189e433b7c2d305293993c8691bc1c2062d6d4f513b12518c"
    ),
    Coordinate("org.apache.kafka", "kafka-clients", "3.9.2", alone=True): (
        "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8"
    ),
    Coordinate("org.apache.commons", "commons-pool2", "2.13.1", alone=True): (
        "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f"
    ),
}
"""What the query needs in addition to PySpark, with SHA-256."""

TOPICS = {"orders": 2, "clicks": 1}
Ends = Mapping[str, Mapping[str, int]]
"""Topic -> partition -> offset, as in Spark's progress."""


def installed() -> tuple[Path, list[Path]]:
    """Return the folder with PySpark, and the jars; both are fetched once for the user."""
    folder = jar_cache().parent / f"pyspark-{SPARK}"
    jars = [folder / f"{each.artifact}-{each.version}.jar" for each in JARS]
    with locked(folder.parent / ".pyspark-lock"):
        if not all(map(Path.exists, jars)):
            part = folder.with_name(f"{folder.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            install = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            subprocess.run([*install, "--target", str(part), f"pyspark=={SPARK}"], check=True)
            if maven := find_maven():
                fetch_by_maven(maven, list(JARS), part)
            else:
                ivy = find_ivy()
                assert ivy, "PySpark contains Ivy"
                fetch_by_ivy(find_java(), ivy, list(JARS), part)
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
    assert [hashlib.sha256(jar.read_bytes()).hexdigest() for jar in jars] == list(JARS.values())
    return folder, jars


class Query:
    """The program that runs the query, and what it told last."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        assert process.stdin and process.stdout
        self._in: IO[str] = process.stdin
        self._out: IO[str] = process.stdout
        self._log = log
        self._next: list[dict[str, Any]] = []

    def end(self, word: str) -> None:
        """End the attempt of the batch that is in flight: ``go``, or ``fail``."""
        self._in.write(f"{word}\n")
        self._in.flush()

    def wait(self, key: str) -> dict[str, Any]:
        """Return the next event of a kind; others may come before it."""
        if (at := next((at for at, told in enumerate(self._next) if key in told), None)) is not None:
            return self._next.pop(at)
        for line in self._out:
            if not line.startswith("{"):
                continue
            event: dict[str, Any] = json.loads(line)
            if key in event:
                return event
            self._next.append(event)
        raise AssertionError(f"the query has ended:\n{self._log.read_text()[-3000:]}")


@contextmanager
def running(sandbox: Sandbox, checkpoint: Path, log: Path) -> Iterator[Query]:
    folder, jars = installed()
    words = [sandbox.bootstrap, ",".join(TOPICS), str(checkpoint), ",".join(map(str, jars))]
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    environment |= {"PYTHONPATH": str(folder), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("spark_query.py")), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            start_new_session=True,
        )
    try:
        yield Query(process, log)
    finally:
        os.killpg(process.pid, 9)
        process.communicate()


@pytest.fixture(scope="module")
def kafka(require_kafka: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    require_kafka("4.3.1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        with Sandbox.up(MAIN, name="positions") as sandbox:
            admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
            for made in admin.create_topics([NewTopic(name, many, 1) for name, many in TOPICS.items()]).values():
                made.result(60)
            yield sandbox


def produce(sandbox: Sandbox, records: int) -> None:
    producer = Producer({"bootstrap.servers": sandbox.bootstrap})
    for topic, partitions in TOPICS.items():
        for number in range(records):
            producer.produce(topic, b"x", partition=number % partitions)
    assert not producer.flush(60)


def shown(sandbox: Sandbox, positions: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the rows of ``lag``, by topic and partition."""
    words = ["lag", "query", "--by", "partition", "-o", "json", "-b", sandbox.bootstrap, "--timeout", "2m"]
    answer = CliRunner().invoke(cli, [*words, "--positions", positions])
    assert answer.exit_code == 0, answer.output
    return {(row["topic"], str(row["partition"])): row for row in json.loads(answer.stdout)["items"]}


def flat(ends: Ends) -> dict[tuple[str, str], int]:
    return {(topic, at): end for topic, partitions in ends.items() for at, end in partitions.items()}


def test_lag_is_that_of_the_query_at_every_batch(kafka: Sandbox, tmp_path: Path) -> None:
    produce(kafka, 60)
    checkpoint = tmp_path / "query"
    with s3_bucket() as bucket, running(kafka, checkpoint, tmp_path / "log") as query:
        store = from_url(f"{bucket}/query", client_options={"allow_http": True})

        def rows() -> dict[tuple[str, str], dict[str, Any]]:
            """Return what is shown of the folder, and check that it is the same of a copy in S3."""
            found = shown(kafka, f"spark:{checkpoint}")
            for path in filter(Path.is_file, checkpoint.rglob("*")):
                obstore.put(store, str(path.relative_to(checkpoint)), path.read_bytes())
            assert shown(kafka, f"spark:{bucket}/query") == found
            return found

        at = dict.fromkeys([("orders", "0"), ("orders", "1"), ("clicks", "0")], 0)
        ends = {("orders", "0"): 30, ("orders", "1"): 30, ("clicks", "0"): 60}
        batch = query.wait("in_flight")["in_flight"]
        assert batch == 0
        for attempt in range(12):
            found = rows()
            assert {place: row["current_offset"] for place, row in found.items()} == at, "it is not counted as read"
            assert {place: row["lag"] for place, row in found.items()} == {
                place: ends[place] - at[place] for place in at
            }
            notes = {row["note"] for row in found.values() if row["note"]}
            assert notes
            assert all(note.startswith(f"batch {batch} is in flight up to ") for note in notes)
            if attempt == 1:  # a restart: the same batch again
                query.end("fail")
                query.wait("restart")
                assert query.wait("in_flight")["in_flight"] == batch
                assert {place: row["current_offset"] for place, row in rows().items()} == at
                produce(kafka, 10)
                ends = {place: end + (10 if place[0] == "clicks" else 5) for place, end in ends.items()}
            query.end("go")
            done = query.wait("done")
            assert done["done"] == batch
            at = flat(done["endOffset"])
            if at == ends:
                break
            # The query does not ask for it when it repeats a batch.
            assert attempt == 1 or flat(done["latestOffset"]) == ends
            batch = query.wait("in_flight")["in_flight"]
        found = rows()
        assert {place: row["lag"] for place, row in found.items()} == dict.fromkeys(ends, 0)
        assert {row["note"] for row in found.values()} == {None}
        assert batch >= 3
