"""The user data of the sticky assignors, kept from one rebalance to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.assignment import Assignment


class StickyData(NamedTuple):
    """User data of ``sticky`` and ``cooperative-sticky``: a member's previous assignment, and its generation.

    ``previous`` is ``None`` if only the generation is sent, as by Java's cooperative assignor (v0 there).
    ``generation`` is ``None`` if only the assignment is sent (v0 of the sticky assignor, before Kafka 2.3), or if there
    was none yet.
    """

    previous: Assignment | None
    generation: int | None

    def facts(self) -> Mapping[str, object]:
        return {"generation": self.generation, "previous_assignment": self.previous}

    def facts_with(self, given: object) -> Mapping[str, object]:
        return {}

    def __str__(self) -> str:
        previous = [] if self.previous is None else [f"previous {str(self.previous) or 'nothing'}"]
        return " ".join([*previous, f"generation {'none' if self.generation is None else self.generation}"])
