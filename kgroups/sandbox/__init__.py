"""Real Kafka clusters on this machine, from the published jars, for the demo, the tests, and the benchmark.

With the standard library only: ``versions`` lists the supported versions, ``jars`` fetches them, ``cluster`` runs them.
With kgroups' own sockets and librdkafka: ``seed`` creates the groups of ``seed_data``, and ``load`` creates thousands.
``wire`` contains the requests that only the sandbox sends.
"""

from __future__ import annotations

from .cluster import Sandbox
from .versions import DEFAULT_VERSION, VERSIONS, KafkaVersion, kafka_version

__all__ = ["DEFAULT_VERSION", "VERSIONS", "KafkaVersion", "Sandbox", "kafka_version"]
