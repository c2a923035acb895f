"""Groups that may exist although an outcome lacks them: repeated polls must not take them for deleted."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.groups import GroupId
from kgroups.model.outcome import NOT_FOUND, Failure, Scope
from kgroups.model.placement import OFFSETS_TOPIC


def unanswered(failures: Iterable[Failure]) -> frozenset[GroupId] | None:
    """Return the groups that failures name; ``None`` if any missing group may exist.

    The latter is the case if a broker did not respond, or if partitions of the offsets topic have no leader: then no
    broker lists their groups.
    """
    failures = tuple(failures)
    if any(
        failure.scope in (Scope.CLUSTER, Scope.BROKER) or (failure.scope, failure.name) == (Scope.TOPIC, OFFSETS_TOPIC)
        for failure in failures
    ):
        return None
    return frozenset(each.name for each in failures if each.scope is Scope.GROUP and each.error != NOT_FOUND)
