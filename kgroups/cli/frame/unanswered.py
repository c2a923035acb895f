"""Groups that may exist although they are missing from an outcome: what repeated looks must not take for gone."""

from __future__ import annotations

from collections.abc import Iterable

from kgroups.model.groups import GroupId
from kgroups.model.outcome import NOT_FOUND, Failure, Scope
from kgroups.model.placement import OFFSETS_TOPIC


def unanswered(failures: Iterable[Failure]) -> frozenset[GroupId] | None:
    """Return the groups that failures name; ``None`` if any missing group may exist.

    Any may if a broker did not respond, or if partitions of the offsets topic have no leader: no broker lists their
    groups then.
    """
    failures = tuple(failures)
    if any(
        failure.scope in (Scope.CLUSTER, Scope.BROKER) or (failure.scope, failure.name) == (Scope.TOPIC, OFFSETS_TOPIC)
        for failure in failures
    ):
        return None
    return frozenset(each.name for each in failures if each.scope is Scope.GROUP and each.error != NOT_FOUND)
