"""Run a Kafka Streams application in a sandbox: ``StreamsApplication.java``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from .cluster import Sandbox
from .jars import ensure_streams_jars

REPARTITION: Final = "by-value-repartition"
CHANGELOG: Final = "counts-changelog"
"""The names of the application's internal topics, after its ID and a dash."""

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
    """Start the application as a helper, and return its PID; it reads ``topics`` from the start, and commits often.

    Its ID is the group ID. The group has ``instances * threads`` members, and each instance is a process.

    :param standby: the number of standby replicas of each stateful task; requires that many additional instances.
    :param settings: further settings of Kafka Streams.
    :raises SandboxError: when the jars or a Java with a compiler are not available.
    """
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
    return sandbox.start_java(application, _PROGRAM, *given, more_jars=(ensure_streams_jars(sandbox.version),))
