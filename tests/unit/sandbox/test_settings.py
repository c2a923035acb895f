"""Configuration files of servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgroups.sandbox import kafka_version
from kgroups.sandbox.settings import controllers, server_properties, write_logging, write_properties
from kgroups.sandbox.state import Broker


def brokers(count: int) -> list[Broker]:
    return [
        Broker(n, {"PLAINTEXT": 9000 + n}, controller=8000 + n if n in controllers(count) else None)
        for n in range(1, count + 1)
    ]


def settings(version: str, count: int, number: int, extra: dict[str, str] | None = None) -> dict[str, str]:
    cluster = brokers(count)
    kafka = kafka_version(version)
    return server_properties(
        kafka,
        cluster[number - 1],
        cluster,
        protocols={"PLAINTEXT": "PLAINTEXT"},
        zookeeper=2181 if kafka.zookeeper else None,
        data=Path("/data"),
        extra=extra or {},
    )


@pytest.mark.parametrize(("count", "voters"), [(1, 1), (2, 1), (3, 3)])
def test_quorum_tolerates_one_failure_if_possible(count: int, voters: int) -> None:
    last = settings("4.3.1", count, count)
    assert len(last["controller.quorum.voters"].split(",")) == voters
    assert last["process.roles"] == ("broker" if count == 2 else "broker,controller")
    assert ("CONTROLLER://" in last["listeners"]) == (count != 2)
    assert last["advertised.listeners"] == f"PLAINTEXT://127.0.0.1:{9000 + count}"


def test_zookeeper_settings_have_no_kraft_keys() -> None:
    properties = settings("1.1.1", 1, 1)
    assert properties["zookeeper.connect"] == "127.0.0.1:2181"
    assert not [key for key in properties if key.startswith(("controller.q", "process.", "node.", "share."))]


def test_given_settings_take_precedence() -> None:
    properties = settings("4.3.1", 1, 1, {"offsets.topic.num.partitions": "50", "authorizer.class.name": "x.Y"})
    assert (properties["offsets.topic.num.partitions"], properties["authorizer.class.name"]) == ("50", "x.Y")


def test_advertised_listener_uses_the_proxy_port() -> None:
    broker = Broker(1, {"PLAINTEXT": 9001, "PROXIED": 9002})
    properties = server_properties(
        kafka_version("4.3.1"),
        broker,
        [broker],
        protocols={"PLAINTEXT": "PLAINTEXT", "PROXIED": "PLAINTEXT"},
        zookeeper=None,
        data=Path("/data"),
        extra={},
        advertised={"PROXIED": 7002},
    )
    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:9001,PROXIED://127.0.0.1:9002"
    assert properties["advertised.listeners"] == "PLAINTEXT://127.0.0.1:9001,PROXIED://127.0.0.1:7002"


def test_properties_files_use_java_escapes(tmp_path: Path) -> None:
    write_properties(tmp_path / "a" / "b.properties", {"jaas": 'x password="a\\b" ;', "lines": "1\n2"})
    assert (tmp_path / "a" / "b.properties").read_text() == 'jaas=x password="a\\\\b" ;\nlines=1\\n2\n'


def test_properties_files_escape_beyond_latin_1(tmp_path: Path) -> None:
    write_properties(tmp_path / "p", {"password": "é№"})
    assert (tmp_path / "p").read_bytes() == b"password=\\u00e9\\u2116\n"


def test_logging_files_are_not_rewritten(tmp_path: Path) -> None:
    options = write_logging(tmp_path, "WARN")
    before = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(before) == 2 and all(file.read_text() for file in before)
    assert write_logging(tmp_path, "WARN") == options
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == before
