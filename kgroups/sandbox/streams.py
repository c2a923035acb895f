"""Runs an application of Kafka Streams beside a sandbox: ``StreamsApplication.java``, from its source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.jars import ensure_streams_jars
from kgroups.sandbox.java import find_java, need_compiler

REPARTITION: Final = "by-value-repartition"
CHANGELOG: Final = "counts-changelog"
"""What the names of the application's internal topics end in, behind its id and a dash."""

_PROGRAM: Final = Path(__file__).with_name("StreamsApplication.java")


def start_streams(
    sandbox: Sandbox,
    application: str,
    topics: Sequence[str],
    *,
    protocol: Literal["classic", "streams"] = "streams",
    instances: int = 1,
    threads: int = 1,
    standby: int = 0,
    **settings: str,
) -> int:
    """Starts it as a helper; it reads ``topics`` from their beginning, and commits often. Returns its pid.

    Its group bears its id, and has ``instances * threads`` members; each instance is a process to the group.

    :param standby: how many standby replicas each stateful task is to have; there need be as many more instances.
    :param settings: more settings of Kafka Streams.
    :raises SandboxError: when the jars or a Java with a compiler cannot be had.
    """
    need_compiler(find_java())
    words = {
        "topics": ",".join(topics),
        "instances": str(instances),
        "standby": str(standby),
        "bootstrap.servers": sandbox.bootstrap,
        "application.id": application,
        "group.protocol": protocol,
        "num.stream.threads": str(threads),
        "state.dir": str(sandbox.folder / "streams"),
        "commit.interval.ms": "200",
        **settings,
    }
    given = [f"{name}={value}" for name, value in words.items()]
    return sandbox.start_java(application, str(_PROGRAM), *given, more_jars=(ensure_streams_jars(sandbox.version),))
