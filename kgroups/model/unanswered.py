"""Groups that may exist although an outcome lacks them, so that sums over its groups are not sums of the cluster."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from .groups import GroupId
from .outcome import NOT_FOUND, Failure, Outcome, Scope
from .placement import OFFSETS_TOPIC


def hides_groups(failure: Failure) -> bool:
    """Return whether groups may exist that are not listed.

    That is the case if a broker did not respond, or if partitions of the offsets topic have no leader: then no broker
    lists their groups.
    """
    return failure.scope in (Scope.CLUSTER, Scope.BROKER) or (failure.scope, failure.name) == (
        Scope.TOPIC,
        OFFSETS_TOPIC,
    )


def unanswered(failures: Iterable[Failure]) -> frozenset[GroupId] | None:
    """Return the groups that failures name; ``None`` if any missing group may exist."""
    failures = tuple(failures)
    if any(map(hides_groups, failures)):
        return None
    return frozenset(each.name for each in failures if each.scope is Scope.GROUP and each.error != NOT_FOUND)


def is_partial(outcome: Outcome[Any], known: Container[GroupId] = ()) -> bool:
    """Return whether groups may exist that the outcome lacks.

    :param known: the groups that it has, although a failure may name them.
    """
    missing = unanswered(outcome.failures)
    return bool(outcome.hidden_by) or missing is None or any(name not in known for name in missing)
