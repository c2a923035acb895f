"""In what members differ: subscriptions, and the clients that speak for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from kgroups.model.assignment import Raw
from kgroups.model.embedded.classic_streams import StreamsSubscription

from ..counts import count, some
from .facts import GroupFacts, wanted_topics
from .findings import Finding, warning

SAID_BY = {
    0: "the first",
    1: "with the partitions that it owns (KIP-429)",
    2: "with the generation (KIP-792)",
    3: "with the rack (KIP-881)",
}
"""What each version of a consumer's subscription brought."""


def find(facts: GroupFacts) -> Iterator[Finding]:
    if facts.of_consumers and facts.told_its_members:
        yield from _subscriptions(facts)
        yield from _versions(facts)
        yield from _user_data(facts)


def _subscriptions(facts: GroupFacts) -> Iterator[Finding]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for member in facts.members:
        regex = member.subscription.regex
        words = f"/{regex}/" if regex and not member.subscription.topics else ",".join(wanted_topics(facts, member))
        kinds[words or "nothing"].append(member.member_id)
    if len(kinds) < 2:
        return
    yield warning(
        "subscriptions-differ",
        f"members ask for different topics, in {count(len(kinds), 'way')}: {_shares(kinds)}; if that is not meant, "
        "a rolling deployment is under way or two applications share the name",
        _minority(kinds),
    )


def _versions(facts: GroupFacts) -> Iterator[Finding]:
    kinds: dict[str, list[str]] = defaultdict(list)
    for member in facts.members:
        version = member.subscription.version
        if version is not None:
            kinds[f"v{version}, {SAID_BY.get(version, 'newer than known')}"].append(member.member_id)
    if len(kinds) > 1:
        yield warning(
            "clients-differ",
            f"members write subscriptions of {len(kinds)} versions: {_shares(kinds)}: clients of different makes or "
            "ages, maybe an upgrade under way",
            _minority(kinds),
        )


def _user_data(facts: GroupFacts) -> Iterator[Finding]:
    opaque = [member.member_id for member in facts.members if isinstance(member.subscription.user_data, Raw)]
    if opaque:
        yield warning(
            "user-data",
            f"the assignor's user data of {count(len(opaque), 'member')} cannot be read ({some(opaque)}): an "
            "assignor that is not Kafka's own, or another client's",
            opaque,
        )
    ages: dict[str, list[str]] = defaultdict(list)
    for member in facts.members:
        if isinstance(member.subscription.user_data, StreamsSubscription):
            ages[f"v{member.subscription.user_data.latest_version}"].append(member.member_id)
    if len(ages) > 1:
        yield warning(
            "clients-differ",
            f"instances of Kafka Streams know protocols of up to {len(ages)} different versions: {_shares(ages)}: an "
            "upgrade of Streams is under way",
            _minority(ages),
        )


def _shares(kinds: Mapping[str, Sequence[str]]) -> str:
    ordered = sorted(kinds, key=lambda words: (-len(kinds[words]), words))
    return some([f"{count(len(kinds[words]), 'member')}: {words}" for words in ordered])


def _minority(kinds: Mapping[str, Sequence[str]]) -> list[str]:
    """All but those that are most."""
    most = max(kinds.values(), key=len)
    return [name for names in kinds.values() if names is not most for name in names]
