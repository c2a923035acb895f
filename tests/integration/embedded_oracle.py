"""Read client metadata of groups with Kafka's own classes, and generate more of it."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from kgroups.errors import SandboxError
from kgroups.model.assignment import Assignment, Subscription
from kgroups.model.embedded.classic_streams import HostPartitions, StreamsAssignment, StreamsSubscription
from kgroups.model.embedded.connect import ConnectorWork, WorkerAssignment, WorkerState
from kgroups.model.embedded.sticky import StickyData
from kgroups.sandbox import kafka_version
from kgroups.sandbox.jars import ensure_jars, ensure_streams_jars
from tests.integration.java_program import java_command

VERSION: Final = "4.3.1"
_PROGRAM: Final = Path(__file__).with_name("EmbeddedOracle.java")
_SECONDS: Final = 300


class Decoded(NamedTuple):
    """Some bytes, and what Kafka reads from them; ``None`` where it refuses them."""

    kind: str
    data: bytes
    values: dict[str, Any] | None


def ask_kafka(given: Iterable[tuple[str, bytes]], scratch: Path, *, more: int, seed: int) -> list[Decoded]:
    """Of these bytes, and of ``more`` of every kind that Kafka makes itself: whole, cut off, and with bytes behind.

    :raises SandboxError: when the program fails.
    """
    asked, answer = scratch / "embedded.txt", scratch / "embedded.jsonl"
    asked.write_text("".join(f"{kind} {base64.b64encode(data).decode()}\n" for kind, data in given))
    version = kafka_version(VERSION)
    jars = [ensure_jars(version), ensure_streams_jars(version)]
    command = java_command(_PROGRAM, jars, str(asked), str(answer), str(more), str(seed))
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise SandboxError(f"the embedded oracle failed: {done.stderr[-2000:]}")
    lines = map(json.loads, answer.read_text(encoding="utf-8").splitlines())
    return [Decoded(line["kind"], base64.b64decode(line["bytes"]), line.get("told")) for line in lines]


def of_subscription(found: Subscription) -> dict[str, Any]:
    answer = {"generation": found.generation, "rack": found.rack, "userData": _base64(found.user_data)}
    return {"topics": list(found.topics), "owned": pairs(found.owned), **_present(answer)}


def of_assignment(found: Assignment) -> dict[str, Any]:
    return {"partitions": pairs(found), **_present({"userData": _base64(found.user_data)})}


def of_sticky(found: StickyData) -> dict[str, Any]:
    return {"previous": pairs(found.previous or Assignment()), **_present({"generation": found.generation})}


def of_worker(found: WorkerState) -> dict[str, Any]:
    running = {"running": of_work(found.running) if found.running else None}
    return {"url": found.url, "offset": found.config_offset, **_present(running)}


def of_work(found: WorkerAssignment) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "error": found.error,
        "leader": found.leader,
        "leaderUrl": found.leader_url,
        "offset": found.config_offset,
        "connectors": [each.connector for each in found.work if each.itself],
        "tasks": _tasks(found.work),
    }
    if found.version:
        answer["revokedConnectors"] = [each.connector for each in found.revoked if each.itself]
        answer["revokedTasks"] = _tasks(found.revoked)
        answer["delay"] = found.delay_ms
    return answer


def of_streams_subscription(found: StreamsSubscription) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "version": found.version,
        "latest": -1 if found.latest_version is None else found.latest_version,
    }
    if found.process_id is None:
        return answer
    return answer | {
        "process": found.process_id,
        "previous": sorted(set(map(str, found.previous_tasks))),
        "standby": sorted(set(map(str, found.standby_tasks))),
        "endpoint": found.endpoint,
        "error": found.error or 0,
        "tags": dict(found.client_tags),
        "sums": {str(each.task): each.offset_sum for each in found.offset_sums},
    }


def of_streams_assignment(found: StreamsAssignment) -> dict[str, Any]:
    return {
        "version": found.version,
        "common": -1 if found.common_version is None else found.common_version,
        "active": list(map(str, found.active)),
        "standby": {str(each.task): pairs(each.partitions) for each in found.standby},
        "hosts": _hosts(found.by_host),
        "standbyHosts": _hosts(found.standby_by_host),
        "error": found.error or 0,
        "next": 2**63 - 1 if found.next_rebalance_ms is None else found.next_rebalance_ms,
    }


def pairs(held: Assignment) -> list[str]:
    return sorted(f"{topic}:{partition}" for topic, partition in held.pairs())


def _tasks(work: tuple[ConnectorWork, ...]) -> list[str]:
    return sorted(f"{each.connector}-{task}" for each in work for task in each.tasks)


def _hosts(hosts: tuple[HostPartitions, ...]) -> dict[str, list[str]]:
    return {f"{each.host}:{each.port}": pairs(each.partitions) for each in hosts}


def _base64(raw: Any) -> str | None:
    return base64.b64encode(raw.data).decode() if raw else None


def _present(reported: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in reported.items() if value is not None}
