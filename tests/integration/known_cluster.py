"""The seeded groups in a cluster, with the output that kgroups must print for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kgroups.sandbox import Sandbox
from kgroups.sandbox.expected_state import end_of
from kgroups.sandbox.seed_data import DELETED_TOPIC, KnownGroup, known_groups
from tests.integration.asking import Answer, run_here
from tests.integration.java_output import JavaTool, ToolOutput

Pair = tuple[str, int]


@dataclass(frozen=True)
class KnownCluster:
    sandbox: Sandbox

    def ask(self, *words: str) -> Answer:
        return run_here(*words, bootstrap=self.sandbox.bootstrap)

    def java(self, *words: str, version: str | None = None) -> ToolOutput:
        """Asks the Java tool of the cluster's own version, or of another."""
        return JavaTool(version or self.version).ask(self.sandbox.bootstrap, *words)

    @property
    def version(self) -> str:
        return self.sandbox.version.name

    def since(self, release: str) -> bool:
        """Whether the brokers are of that release or newer."""
        return _numbers(self.version) >= _numbers(release)

    @property
    def groups(self) -> Mapping[str, KnownGroup]:
        return {group.name: group for group in known_groups(self.sandbox.version)}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def promised_offsets(group: KnownGroup) -> dict[Pair, tuple[int | None, int | None]]:
    """(topic, partition) -> committed offset and end of the log, of everything that its offsets view must show."""
    committed = {(topic, at): offset for topic, offsets in group.commits.items() for at, offset in offsets.items()}
    return {
        pair: (committed.get(pair), None if pair[0] == DELETED_TOPIC else end_of(*pair))
        for pair in committed.keys() | group.assigned
    }
