"""Groups of Schema Registry (or Karapace) instances, which elect one instance to register new schemas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kgroups.model.embedded.schema_registry import RegistryAssignment, RegistryIdentity

from ..counts import count, some
from .facts import GroupFacts
from .findings import Finding, info, problem, warning


def find(facts: GroupFacts) -> Iterator[Finding]:
    assignments = [
        member.assignment.user_data
        for member in facts.members
        if isinstance(member.assignment.user_data, RegistryAssignment)
    ]
    identities = [
        member.subscription.user_data
        for member in facts.members
        if isinstance(member.subscription.user_data, RegistryIdentity)
    ]
    if assignments:
        yield _leader(assignments[0], len(identities))
    yield from _same_urls(assignments, identities)


def _leader(assignment: RegistryAssignment, members: int) -> Finding:
    """Return the leader. Without an eligible member, Confluent's reports none, Karapace one that is not eligible."""
    leader = assignment.identity
    if leader is None or leader.eligible is False:
        text = (
            f"no registry accepts new schemas: none of {count(members, 'registry', 'registries')} is eligible as leader"
        )
        return problem("registry-leader", text)
    return info(
        "registry-leader", f"the registry that accepts new schemas, as reported to its members, is {leader.url}"
    )


def _same_urls(assignments: list[RegistryAssignment], identities: list[RegistryIdentity]) -> Iterator[Finding]:
    same = sorted(url for url, count in Counter(each.url for each in identities).items() if count > 1)
    if same:
        yield warning(
            "registry-urls",
            f"several registries report the address {some(same)}: a forwarded request may return to its sender; "
            "configure a different host name for each",
            same,
        )
    elif any(each.error for each in assignments):
        error = next(each.error for each in assignments if each.error)
        yield warning("registry-urls", f"the registry that assigned the roles reported error {error}")
