"""Why a group is as it is: facts about one group go in, findings come out, by rules that are pure, one theme a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import clients, coverage, history, membership, outsiders, placement, registries, weight, workers
from .facts import GroupFacts
from .findings import Finding

Rule = Callable[[GroupFacts], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    placement.find,
    history.find,
    membership.find,
    outsiders.find,
    coverage.find,
    clients.find,
    workers.find,
    registries.find,
    weight.find,
)
"""In the order in which a person reads them."""


def explain(facts: GroupFacts) -> tuple[Finding, ...]:
    return tuple(finding for rule in RULES for finding in rule(facts))
