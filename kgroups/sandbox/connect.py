"""Run Kafka Connect workers in a sandbox, and a connector that reads a file (connect-file)."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

from kgroups.errors import SandboxError

from .cluster import Sandbox
from .jars import ensure_connect_jars, ensure_worker_jars
from .ports import HOST, ReservedPorts

_WORKER: Final = "org.apache.kafka.connect.cli.ConnectDistributed"
_SOURCE: Final = "org.apache.kafka.connect.file.FileStreamSourceConnector"
_PAUSE: Final = 0.2
_PATIENCE: Final = 240.0
"""Seconds: a worker responds when its JVM has started and its group is stable."""


def start_workers(sandbox: Sandbox, group: str, count: int = 2, **settings: str) -> list[str]:
    """Start the workers of one Connect cluster as helpers, and return their URLs, which may not respond yet.

    :param settings: further settings of the workers, with underscores for dots.
    :raises SandboxError: when the jars are not available.
    """
    jars = ensure_connect_jars(sandbox.version)
    worker = ensure_worker_jars(sandbox.version)
    topics = {f"{kind}.storage.topic": f"{group}-{kind}" for kind in ("config", "offset", "status")}
    copies = {f"{kind}.storage.replication.factor": "1" for kind in ("config", "offset", "status")}
    parts = {f"{kind}.storage.partitions": "1" for kind in ("offset", "status")}
    ports = ReservedPorts(count)
    ports.release()
    urls: list[str] = []
    for port in ports.numbers:
        url = f"http://{HOST}:{port}"
        words = {
            "bootstrap.servers": sandbox.bootstrap,
            "group.id": group,
            "client.id": f"{group}-{len(urls)}",
            "listeners": url,
            "rest.advertised.host.name": HOST,
            "connect.protocol": "sessioned",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            # Plugins are found by their manifests; scanning all jars would take half a minute.
            "plugin.discovery": "service_load",
            "offset.flush.interval.ms": "1000",
            **topics,
            **copies,
            **parts,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        role = f"{group}-{port}"
        file = sandbox.folder / f"{role}.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in words.items()))
        sandbox.start_java(role, _WORKER, str(file), more_jars=(jars,), tools=worker)
        urls.append(url)
    return urls


def start_connector(sandbox: Sandbox, url: str, name: str, topic: str) -> None:
    """Create a connector that reads a file of the sandbox into a topic, and wait until the worker accepts it.

    :raises SandboxError: when it does not in time.
    """
    source = sandbox.folder / f"{name}.txt"
    source.write_text("one\ntwo\n")
    config = {"connector.class": _SOURCE, "tasks.max": "1", "file": str(source), "topic": topic}
    ask(url, f"/connectors/{name}/config", config)


def ask(url: str, path: str, put: Mapping[str, str] | None = None, *, timeout: float = _PATIENCE) -> Any:
    """Return a worker's HTTP response, with retries until it responds; ``put`` is the body of a PUT request.

    :raises SandboxError: when it does not respond in time.
    """
    until = time.monotonic() + timeout
    data = None if put is None else json.dumps(put).encode()
    request = urllib.request.Request(
        url + path, data, {"Content-Type": "application/json"}, method="PUT" if put else "GET"
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except (OSError, ValueError) as error:
            if time.monotonic() > until:
                raise SandboxError(f"the worker at {url} does not respond: {error}") from None
        time.sleep(_PAUSE)
