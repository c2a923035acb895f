"""Differences between members: subscriptions, and client versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from kgroups.model.assignment import Raw
from kgroups.model.embedded.classic_streams import StreamsSubscription

from ..counts import count, some
from .facts import GroupFacts, subscribed_topics
from .findings import Finding, warning

VERSIONS = {
    0: "the first version",
    1: "with owned partitions (KIP-429)",
    2: "with generation (KIP-792)",
    3: "with rack (KIP-881)",
}
"""The additions of each version of the consumer subscription."""


def find(facts: GroupFacts) -> Iterator[Finding]:
    if facts.of_consumers and facts.has_subscriptions:
        yield from _subscriptions(facts)
        yield from _versions(facts)
        yield from _user_data(facts)


def _subscriptions(facts: GroupFacts) -> Iterator[Finding]:
    by_text: dict[str, list[str]] = defaultdict(list)
    for member in facts.members:
        regex = member.subscription.regex
        text = f"/{regex}/" if regex and not member.subscription.topics else ",".join(subscribed_topics(facts, member))
        by_text[text or "nothing"].append(member.member_id)
    if len(by_text) < 2:
        return
    yield warning(
        "subscriptions-differ",
        f"members have {len(by_text):,} different subscriptions: {_shares(by_text)}; unless this is intended, a "
        "rolling deployment is in progress or two applications use the same group name",
        _minority(by_text),
    )


def _versions(facts: GroupFacts) -> Iterator[Finding]:
    by_text: dict[str, list[str]] = defaultdict(list)
    for member in facts.members:
        version = member.subscription.version
        if version is not None:
            by_text[f"v{version}, {VERSIONS.get(version, 'newer than known')}"].append(member.member_id)
    if len(by_text) > 1:
        yield warning(
            "clients-differ",
            f"members use {len(by_text)} versions of the subscription format: {_shares(by_text)}: the clients are "
            "different libraries or versions; an upgrade may be in progress",
            _minority(by_text),
        )


def _user_data(facts: GroupFacts) -> Iterator[Finding]:
    opaque = [member.member_id for member in facts.members if isinstance(member.subscription.user_data, Raw)]
    if opaque:
        yield warning(
            "user-data",
            f"the assignor's user data of {count(len(opaque), 'member')} cannot be decoded ({some(opaque)}): the "
            "assignor is a custom one, or part of another client library",
            opaque,
        )
    ages: dict[str, list[str]] = defaultdict(list)
    for member in facts.members:
        if isinstance(member.subscription.user_data, StreamsSubscription):
            ages[f"v{member.subscription.user_data.latest_version}"].append(member.member_id)
    if len(ages) > 1:
        yield warning(
            "clients-differ",
            f"Kafka Streams instances support {len(ages)} different protocol versions: {_shares(ages)}: an upgrade of "
            "Kafka Streams is in progress",
            _minority(ages),
        )


def _shares(by_text: Mapping[str, Sequence[str]]) -> str:
    ordered = sorted(by_text, key=lambda text: (-len(by_text[text]), text))
    return some([f"{count(len(by_text[text]), 'member')}: {text}" for text in ordered])


def _minority(by_text: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the members that are not in the largest set."""
    most = max(by_text.values(), key=len)
    return [name for names in by_text.values() if names is not most for name in names]
