"""Assignments of Kafka's own assignors, computed by the classes of its jars."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kgroups.errors import SandboxError
from kgroups.model.assignors.shape import Participant, Topic, TopicPartition
from kgroups.sandbox import kafka_version
from kgroups.sandbox.jars import ensure_jars

from .java_program import java_command
from .record_oracle import VERSION

_PROGRAM: Final = Path(__file__).with_name("AssignorOracle.java")
_SECONDS: Final = 300


class Case(NamedTuple):
    """``side``: client or broker, which each have a range of their own."""

    side: str
    assignor: str
    members: tuple[Participant, ...]
    topics: Mapping[str, Topic]


class OracleError(Exception):
    """Java's assignor failed."""


def ask_kafka(cases: Sequence[Case], scratch: Path) -> Iterator[dict[str, set[TopicPartition]] | OracleError]:
    """For each case who gets what; or the error that Java's assignor ended with.

    :raises SandboxError: when the program fails.
    """
    asked, result = scratch / "cases.jsonl", scratch / "answers.jsonl"
    asked.write_text("".join(json.dumps(_as_json(case)) + "\n" for case in cases), encoding="utf-8")
    jars = ensure_jars(kafka_version(VERSION))
    command = java_command(_PROGRAM, [jars], str(asked), str(result))
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise SandboxError(f"the assignor oracle failed: {done.stderr[-2000:]}")
    for line in result.read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        if "error" in answer:
            yield OracleError(answer["error"])
        else:
            yield {name: {(topic, number) for topic, number in pairs} for name, pairs in answer.items()}


def _as_json(case: Case) -> dict[str, object]:
    return {
        "side": case.side,
        "assignor": case.assignor,
        "topics": {name: {"partitions": each.partitions, "id": _uuid(each.id)} for name, each in case.topics.items()},
        "members": [
            {
                "id": member.member_id,
                "topics": member.topics,
                "owned": member.owned,
                "generation": member.generation,
                "instance": member.instance_id,
            }
            for member in case.members
        ],
    }


def _uuid(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes(16)).decode().rstrip("=")
