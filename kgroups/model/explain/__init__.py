"""Explain the current state of a group: rules compute findings from facts, without I/O, in one file per theme."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import (
    clients,
    coverage,
    membership,
    placement,
    registries,
    shared,
    times,
    weight,
    workers,
)
from .facts import GroupFacts
from .findings import Finding

Rule = Callable[[GroupFacts], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    placement.find,
    times.find,
    membership.find,
    coverage.find,
    clients.find,
    workers.find,
    shared.find,
    registries.find,
    weight.find,
)
"""In the order of the output."""


def explain(facts: GroupFacts) -> tuple[Finding, ...]:
    return tuple(finding for rule in RULES for finding in rule(facts))
