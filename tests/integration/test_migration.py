"""The verdicts of ``--migration`` equal what brokers do when members with the other protocol really join and leave."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pytest

from kgroups.sandbox import Sandbox
from tests.integration.asking import Row
from tests.integration.migrating_broker import VERSIONS, Limits, configure, judged, migration_broker
from tests.integration.migrating_group import (
    ASSIGNMENTS,
    SUBSCRIPTIONS,
    UNANSWERED,
    RawGroup,
    RawMember,
    Seats,
)

SEATS = 7
SITUATIONS, SOAK = 5, 25
"""For each of the brokers' settings."""

LIMITS = (
    Limits("bidirectional", 100, 100),
    Limits("bidirectional", 3, 5),
    Limits("Bidirectional", 5, 2),
    Limits("upgrade", 100, 100),
    Limits("upgrade", 2, 4),
    Limits("downgrade", 100, 3),
    Limits("disabled", 100, 100),
    Limits("disabled", 3, 2),
)


class Situation:
    """A group with members, and what becomes of it. ``wrong``: how the verdicts differ from that."""

    def __init__(self, name: str, limits: Limits, seats: Seats, rng: random.Random, newer: bool) -> None:
        self.limits = limits
        self.newer = newer
        """Whether the brokers are of Kafka 4.4 or later."""
        self.rng = rng
        self.group = RawGroup(name, seats)
        self.kind = rng.choices(("classic", "consumer", "empty"), (6, 3, 1))[0]
        self.wrong: list[str] = []
        self.rolled_back: bool | None = None
        self.size = 0

    async def build(self) -> None:
        rng, group = self.rng, self.group
        if self.kind == "consumer":
            await self._build_consumer_group()
        else:
            if rng.random() < 0.15:
                group.protocol_type, group.assignor = "own", "custom"
            static = rng.choice(("no", "no", "no", "some", "all"))
            odd = rng.choice(("no", "no", "subscription", "assignment"))
            most = min(5, self.limits.classic_max)
            count = rng.choice((rng.randint(1, most), min(most, self.limits.consumer_max)))  # full, or not
            members = [
                RawMember(
                    subscription=rng.choice(("v0", "v1", "sticky", "newer", "longer")),
                    assignment=rng.choice(("v0", "v3", "none", "longer")),
                    instance=f"i{at}" if static == "all" or (static == "some" and at) else None,
                )
                for at in range(count)
            ]
            if odd == "subscription":
                allowed = [each for each in SUBSCRIPTIONS if self.newer or each not in UNANSWERED]
                members[rng.randrange(count)].subscription = rng.choice(allowed)
            if odd == "assignment":
                members[rng.randrange(count)].assignment = rng.choice((*ASSIGNMENTS, "custom", "custom"))
            await group.form(members)
            if self.kind == "empty":
                await group.leave_all()
        self.size = len(group.members)
        if self.size == self.limits.consumer_max and all(each.instance for each in group.members):
            self.kind = "full of static members"

    async def _build_consumer_group(self) -> None:
        rng, group = self.rng, self.group
        count = rng.randint(1, min(5, self.limits.consumer_max))
        for _ in range(count):
            assert await group.join(RawMember(classic=False)) == ""
        if self.limits.policy == "disabled":
            return
        for each in rng.sample(group.members, rng.randint(0, count)):
            modern = sum(not member.classic for member in group.members)
            if modern == 1 and (self.limits.policy != "upgrade" or len(group.members) == 1):
                return  # without its last modern member, it would become a classic group
            await group.leave(each)
            assert await group.join(RawMember()) == ""

    async def check(self, row: Row) -> None:
        """Let members join and leave, and compare that with the verdicts."""
        group = self.group
        members, modern = list(group.members), row["type"] == "Consumer"
        self._compare("members", len(members), row["members"])
        if members and all(each.classic for each in members) and modern:
            self.kind = "stuck"
        new, leaving = self._newcomer(), members[:1]
        if row["upgrade"] != "done":
            error = await group.join(new)
            self._compare("upgrade", row["upgrade"] == "ready", error == "", error)
            if error:
                full = row["upgrade_rules"] == ["group-full"]
                errors = {"GROUP_MAX_SIZE_REACHED"} if full else {"GROUP_ID_NOT_FOUND", "UNKNOWN_SERVER_ERROR"}
                self._compare(f"error {error}", True, error in errors)
                if full:
                    await group.leave(next((each for each in members if each.classic), members[0]))
                    self._compare("after one has left", True, await group.join(self._newcomer()) == "")
                else:
                    await group.leave_all()
                    self._compare("without members", True, await group.join(RawMember(classic=False)) == "")
                return
            if modern:
                await group.leave(new)
            elif members:
                await self._upgrade_all(new, leaving)
        if members:
            await self._roll_back(row)

    def _newcomer(self) -> RawMember:
        """A member that takes the place of the first one; of a static one under its ID if all are static."""
        static = bool(self.group.members) and all(each.instance for each in self.group.members)
        return RawMember(classic=False, instance=self.group.members[0].instance if static else None)

    async def _upgrade_all(self, new: RawMember, leaving: Sequence[RawMember]) -> None:
        """Replace all classic members, of which the first one is to leave, or was fenced by the new one."""
        group = self.group
        for each in leaving:
            if not new.instance:
                await group.leave(each)
        for each in [each for each in group.members if each.classic]:
            if each.instance:
                assert await group.join(RawMember(classic=False, instance=each.instance)) == ""
            else:
                assert await group.join(RawMember(classic=False)) == ""
                await group.leave(each)

    async def _roll_back(self, row: Row) -> None:
        group, error = self.group, ""
        for each in [each for each in group.members if not each.classic] or group.members[:1]:
            error = await group.join(RawMember(instance=each.instance))
            if error:
                break
            if not each.instance:
                await group.leave(each)
        if error:
            self._compare("rollback", row["rollback"] == "ready", False, error)
        else:
            self.rolled_back = row["rollback"] == "ready"  # the type shows whether it really was

    def _compare(self, what: str, expected: int, found: int, error: str = "") -> None:
        if expected != found:
            self.wrong.append(f"{what}: expected {expected}, found {found} {error}")

    def check_type(self, row: Row | None) -> None:
        if self.rolled_back is not None:
            assert row is not None
            self._compare("type after rollback", self.rolled_back, row["type"] == "Classic", str(row))
            self._compare("members after rollback", True, row["members"] == self.size, str(row))


@pytest.fixture(scope="module", params=VERSIONS)
def broker(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with migration_broker(request) as sandbox:
        yield sandbox


def _run(sandbox: Sandbox, limits: Limits, count: int, rng: random.Random) -> list[tuple[Situation, Row]]:
    async def build() -> list[Situation]:
        made = []
        async with Seats(sandbox.bootstrap, SEATS) as seats:
            for at in range(count):
                made.append(Situation(f"{limits}-{at}", limits, seats, rng, sandbox.version.name >= "4.4"))
                await made[-1].build()
        return made

    async def check(situations: Sequence[Situation], rows: Mapping[str, Row]) -> None:
        async with Seats(sandbox.bootstrap, SEATS) as seats:
            for each in situations:
                each.group.seats = seats
                await each.check(rows[each.group.name])

    situations = asyncio.run(build())
    names = [each.group.name for each in situations]
    rows = judged(sandbox, names)
    again = judged(sandbox, names)
    assert again == rows, "reading changed a group"
    asyncio.run(check(situations, rows))
    after = judged(sandbox, names)
    for each in situations:
        each.check_type(after.get(each.group.name))
    return [(each, rows[each.group.name]) for each in situations]


def _situations(sandbox: Sandbox, count: int, seed: int) -> Counter[str]:
    """Check generated situations; return how often each verdict and rule occurred."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    wrong = []
    for limits in LIMITS:
        configure(sandbox, limits.settings)
        for each, row in _run(sandbox, limits, count, rng):
            found.update((f"upgrade {row['upgrade']}", f"rollback {row['rollback']}", each.kind))
            found.update(row["upgrade_rules"])
            found.update(f"rollback {rule}" for rule in row["rollback_rules"])
            wrong += [(each.group.name, each.kind, row, text) for text in each.wrong]
    print(sandbox.version.name, dict(found))
    assert not wrong
    return found


def test_verdicts_equal_what_brokers_do(broker: Sandbox) -> None:
    found = _situations(broker, SITUATIONS, seed=1)
    assert found["upgrade ready"] and found["upgrade ready-if"] and found["upgrade blocked"]


@pytest.mark.soak
def test_verdicts_equal_what_brokers_do_in_200_situations(broker: Sandbox) -> None:
    found = _situations(broker, SOAK, seed=2)
    rules = {"migration-policy", "protocol-type", "group-size", "group-full", "subscription", "assignment", "user-data"}
    missing = {rule for rule in rules if not found[rule]}
    assert not missing
    assert found["rollback ready"] and found["rollback group-size"] and found["rollback migration-policy"]
    assert found["stuck"] and found["full of static members"]
