"""Groups in which Schema Registries elect who of them takes new schemas; Karapace does the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kgroups.model.embedded.schema_registry import RegistryAssignment, RegistryIdentity

from ..counts import count, some
from .facts import GroupFacts
from .findings import Finding, info, problem, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    given = [
        member.assignment.user_data
        for member in facts.members
        if isinstance(member.assignment.user_data, RegistryAssignment)
    ]
    told = [
        member.subscription.user_data
        for member in facts.members
        if isinstance(member.subscription.user_data, RegistryIdentity)
    ]
    if given:
        yield _leader(given[0], len(told))
    yield from _same_urls(given, told)


def _leader(given: RegistryAssignment, members: int) -> Finding:
    """Confluent's give no leader when nobody may lead; Karapace gives one that says of itself that it may not."""
    leader = given.identity
    if leader is None or leader.eligible is False:
        text = f"no registry takes new schemas: of {count(members, 'registry', 'registries')} none may lead"
        return problem("registry-leader", text)
    return info(
        "registry-leader", f"the registry that accepts new schemas, as reported to its members, is {leader.url}"
    )


def _same_urls(given: list[RegistryAssignment], told: list[RegistryIdentity]) -> Iterator[Finding]:
    same = sorted(url for url, count in Counter(each.url for each in told).items() if count > 1)
    if same:
        yield warning(
            "registry-urls",
            f"several registries report the address {some(same)}: a forwarded request may return to its sender; give "
            "each its own host name",
            same,
        )
    elif any(each.error for each in given):
        error = next(each.error for each in given if each.error)
        yield warning("registry-urls", f"the registry that assigned the roles reported error {error}")
