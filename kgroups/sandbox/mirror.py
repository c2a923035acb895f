"""Run MirrorMaker 2 between two sandboxes: one process, with a flow for each pair of aliases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .cluster import Sandbox
from .jars import ensure_mirror_jars

_PROGRAM: Final = "org.apache.kafka.connect.mirror.MirrorMaker"
IDENTITY: Final = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
"""The value of ``replication.policy.class`` with which copies have the names of their topics."""

_SETTINGS: Final = {
    "tasks.max": "1",
    "emit.heartbeats.enabled": "false",
    "sync.group.offsets.enabled": "false",
    "sync.topic.configs.enabled": "false",
    "sync.topic.acls.enabled": "false",
    "refresh.topics.interval.seconds": "2",
    "refresh.groups.interval.seconds": "2",
    "emit.checkpoints.interval.seconds": "1",
    "consumer.poll.timeout.ms": "200",
    "replication.factor": "1",
    **{f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")},
    **{f"{kind}.topic.replication.factor": "1" for kind in ("checkpoints", "heartbeats", "offset-syncs")},
}

_WORKER: Final = {
    # Plugins are found by their manifests; scanning all jars would take half a minute.
    "plugin.discovery": "service_load",
    # Also how often delayed syncs are written.
    "offset.flush.interval.ms": "1000",
}
"""Read by the workers, which take only what is set for the target's alias."""


def start_mirror(source: Sandbox, target: Sandbox, flows: Mapping[tuple[str, str], Mapping[str, str]]) -> int:
    """Start MirrorMaker 2 as a helper of the target, and return its PID; nothing may be copied yet.

    :param flows: the aliases of source and target -> the settings of the flow, such as ``topics`` and
        ``replication.policy.class``. With different aliases, several flows copy between the same two clusters.
    :raises SandboxError: when the jars are not available.
    """
    jars = ensure_mirror_jars(target.version)
    words = {"clusters": ",".join(alias for pair in flows for alias in pair), **_SETTINGS}
    for (one, other), settings in flows.items():
        words |= {f"{one}.bootstrap.servers": source.bootstrap, f"{other}.bootstrap.servers": target.bootstrap}
        words |= {f"{other}.{name}": value for name, value in _WORKER.items()}
        flow = f"{one}->{other}"
        words |= {f"{flow}.enabled": "true", **{f"{flow}.{name}": value for name, value in settings.items()}}
    file = target.folder / "mirror.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in words.items()))
    return target.start_java("mirror", _PROGRAM, str(file), more_jars=(jars,))
