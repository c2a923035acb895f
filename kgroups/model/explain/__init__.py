"""Explain the current state of a group: rules compute findings from facts, without I/O, in one file per theme."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import (
    clients,
    coverage,
    history,
    membership,
    outsiders,
    placement,
    registries,
    shared,
    timeouts,
    weight,
    workers,
)
from .facts import GroupFacts
from .findings import Finding

Rule = Callable[[GroupFacts], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    placement.find,
    history.find,
    timeouts.find,
    membership.find,
    outsiders.find,
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
