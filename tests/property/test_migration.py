"""The verdicts about a migration, against a small model of the broker that members really join and leave."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import Assignment, Raw, Subscription, TopicPartitions
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.migration import BrokerFacts, Judgment, MigrationFacts, Verdict, judge_migration

ANY = 1_000


@dataclass(frozen=True)
class Settings:
    policy: str = "bidirectional"
    consumer_max: int = ANY
    classic_max: int = ANY
    group_version: int = 1
    protocols: tuple[str, ...] = ("classic", "consumer")
    counts_replaced: bool = True

    def facts(self) -> BrokerFacts:
        return BrokerFacts(
            1,
            True,
            self.group_version,
            frozenset(self.protocols),
            self.policy,
            self.consumer_max,
            self.classic_max,
            counts_replaced=self.counts_replaced,
        )

    def best(self) -> Settings:
        """Everything that settings can allow."""
        return replace(Settings(), counts_replaced=self.counts_replaced)


@dataclass
class Client:
    classic: bool = True
    subscription: str = "good"  # or: broken, empty
    assignment: str = "good"  # or: broken, empty, custom
    instance: str | None = None

    def member(self, number: int, consumer_group: bool) -> Member:
        raw = Raw(b"\0", "it ends too soon")
        given = Assignment((TopicPartitions("t", (number,)),))
        assignment = {
            "good": given,
            "broken": Assignment(raw=raw, readable=False),
            "empty": Assignment(),
            "custom": given._replace(user_data=Raw(b"x", "user data of an unknown assignor")),
        }[self.assignment]
        subscription = Subscription(("t",))
        if self.subscription == "broken":
            subscription = Subscription(raw=raw, readable=False)
        if self.subscription == "empty":
            subscription = Subscription()
        return Member(
            f"m{number}",
            f"c{number}",
            "/h",
            assignment,
            self.instance,
            subscription=subscription,
            upgraded=not self.classic if consumer_group else None,
            metadata_bytes=None if consumer_group else 0 if self.subscription == "empty" else 9,
        )


@dataclass
class Broker:
    """One group of a group coordinator: joins are refused as Kafka 4.3.1 refuses them."""

    settings: Settings
    consumer_group: bool
    protocol_type: str
    clients: list[Client] = field(default_factory=list)

    def join(self, new: Client) -> bool:
        return self._join_classic(new) if new.classic else self._join_consumer(new)

    def _join_consumer(self, new: Client) -> bool:
        limits = self.settings
        if limits.group_version < 1 or "consumer" not in limits.protocols:
            return False
        if self.clients and not self.consumer_group and not self._converts():
            return False
        if len(self.clients) >= limits.consumer_max:
            return False
        self.consumer_group = True
        self.clients.append(new)
        return True

    def _converts(self) -> bool:
        if self.settings.policy not in ("bidirectional", "upgrade") or self.protocol_type != "consumer":
            return False
        if len(self.clients) > self.settings.consumer_max:
            return False
        return all(each.subscription == "good" and each.assignment in ("good", "empty") for each in self.clients)

    def _join_classic(self, new: Client) -> bool:
        if not self.clients:
            self.consumer_group = False
        if self.consumer_group:
            if self.settings.policy == "disabled" or len(self.clients) >= self.settings.consumer_max:
                return False
        elif len(self.clients) >= self.settings.classic_max:
            return False
        self.clients.append(new)
        return True

    def leave(self, gone: Client) -> None:
        self.clients.remove(gone)
        classic = self.clients and all(each.classic for each in self.clients)
        allowed = self.settings.policy in ("bidirectional", "downgrade")
        if self.consumer_group and classic and allowed and len(self.clients) <= self.settings.classic_max:
            self.consumer_group = False

    def upgrades(self) -> bool:
        """Whether a member with the consumer protocol can join."""
        return self.join(Client(classic=False))

    def rolls_back(self) -> bool:
        """Whether the group becomes classic, with as many members, when each is replaced by a classic one."""
        if not self.clients:
            return True
        for each in [each for each in self.clients if not each.classic] or self.clients[:1]:
            if not self.join(Client()):
                return False
            self.leave(each)
        return not self.consumer_group


settings = st.builds(
    Settings,
    st.sampled_from(("bidirectional", "upgrade", "downgrade", "disabled")),
    st.sampled_from((1, 2, 3, 4, ANY)),
    st.sampled_from((1, 2, 3, 4, ANY)),
    st.sampled_from((1, 1, 1, 0)),
    st.sampled_from((("classic", "consumer"), ("classic", "consumer"), ("classic",))),
)
clients = st.builds(
    Client,
    st.just(True),
    st.sampled_from(("good", "good", "good", "broken", "empty")),
    st.sampled_from(("good", "good", "empty", "broken", "custom")),
    st.sampled_from((None, "i")),
)
good_clients = st.builds(Client, st.booleans())


def _judged(broker: Broker) -> tuple[Judgment, Judgment]:
    members = tuple(each.member(at, broker.consumer_group) for at, each in enumerate(broker.clients))
    kind = "Consumer" if broker.consumer_group else "Classic"
    state = "Stable" if members else "Empty"
    group = Group("g", kind, state, broker.protocol_type, "range", Node(1, "h", 1), members)
    found = judge_migration(MigrationFacts(group, broker.settings.facts()))
    return found.upgrade, found.rollback


def _copy(broker: Broker, limits: Settings) -> Broker:
    return Broker(limits, broker.consumer_group, broker.protocol_type, list(broker.clients))


def _check(verdict: Verdict, now: bool, then: bool) -> None:
    """Check a verdict against what the broker does now, and with the best settings."""
    if now:
        assert verdict in (Verdict.READY, Verdict.DONE)
    else:
        assert verdict is (Verdict.READY_IF if then else Verdict.BLOCKED)


@given(settings, st.lists(clients, max_size=5), st.sampled_from(("consumer", "consumer", "consumer", "own", "")))
def test_verdict_about_a_classic_group_is_what_the_broker_does(
    limits: Settings, members: list[Client], protocol_type: str
) -> None:
    broker = Broker(limits, False, protocol_type or ("consumer" if members else ""), members)
    upgrade, rollback = _judged(broker)
    now, then = (_copy(broker, each).upgrades() for each in (limits, limits.best()))
    _check(upgrade.verdict, now, then)
    if members and broker.protocol_type == "consumer":
        # As if all members had been upgraded.
        upgraded = Broker(limits, True, "consumer", [Client(classic=False) for _ in members])
        _check(rollback.verdict, upgraded.rolls_back(), _copy(upgraded, limits.best()).rolls_back())


@given(settings.filter(lambda each: each.group_version and "consumer" in each.protocols), st.lists(good_clients))
def test_verdict_about_a_consumer_group_is_what_the_broker_does(limits: Settings, members: list[Client]) -> None:
    broker = Broker(limits, True, "consumer", members)
    upgrade, rollback = _judged(broker)
    if any(each.classic for each in members):
        _check(upgrade.verdict, *(_copy(broker, each).upgrades() for each in (limits, limits.best())))
    else:
        assert upgrade.verdict is Verdict.DONE
    _check(rollback.verdict, *(_copy(broker, each).rolls_back() for each in (limits, limits.best())))


@given(settings, st.lists(clients, min_size=1, max_size=4))
def test_verdict_with_an_unknown_policy_is_never_ready(limits: Settings, members: list[Client]) -> None:
    group = Group(
        "g",
        "Classic",
        "Stable",
        "consumer",
        "range",
        Node(1, "h", 1),
        tuple(each.member(at, False) for at, each in enumerate(members)),
    )
    facts = BrokerFacts(1, True, 1, unknown="not authorized")
    found = judge_migration(MigrationFacts(group, facts))
    assert found.upgrade.verdict in (Verdict.UNKNOWN, Verdict.BLOCKED)
    assert found.rollback.verdict is Verdict.UNKNOWN
    assert {each.rule.value for each in found.rollback.blockers} == {"broker-settings"}
