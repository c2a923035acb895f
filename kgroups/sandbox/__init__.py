"""A real Kafka on this machine, from its published jars: for the demo, the tests and the benchmark.

With the standard library only: ``versions`` says what can be run, ``jars`` fetches it, ``cluster`` runs it. Over
kgroups' own sockets and librdkafka: ``seed`` makes the groups that ``world`` names, ``load`` makes groups by the
thousand; what is said on the wire for that, and kgroups itself never says, is in ``wire``.
"""

from __future__ import annotations

from kgroups.sandbox.cluster import Sandbox
from kgroups.sandbox.versions import DEFAULT_VERSION, VERSIONS, KafkaVersion, kafka_version

__all__ = ["DEFAULT_VERSION", "VERSIONS", "KafkaVersion", "Sandbox", "kafka_version"]
