"""The verdicts of ``--migration`` equal what happens when real clients migrate, and roll back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from kgroups.sandbox import Sandbox
from kgroups.sandbox.connect import start_workers
from kgroups.sandbox.streams import start_streams
from tests.integration.asking import Row
from tests.integration.java_members import JavaMembers
from tests.integration.migrating_broker import VERSIONS, Limits, configure, judged, migration_broker
from tests.integration.migrating_clients import JAVA, LIBRDKAFKA, Clients, wait_for
from tests.integration.migrating_group import TOPIC, RawGroup, RawMember, Seats

STREAMS, CONNECT = "streams-application", "connect-workers"
FULL: Final = ("GroupMaxSizeReached", "reached maximum size")
UNRELEASED: Final = ("UnreleasedInstanceId", "instance ID is still used")
NOT_FOUND: Final = ("GroupIdNotFound", "group id does not exist")
INCONSISTENT: Final = ("InconsistentGroupProtocol", "Inconsistent group protocol")
"""Errors of Java, and of librdkafka."""


class Case(NamedTuple):
    """A group of classic clients, or (``modern``) of one client with the consumer protocol."""

    name: str
    members: tuple[str, ...]
    strategy: str | None = None
    static: bool = False
    modern: bool = False


FEW: Final = (
    Case("java", (JAVA, JAVA)),
    Case("librdkafka", (LIBRDKAFKA, LIBRDKAFKA), "range"),
    Case("custom", (JAVA,), "JavaMembers$Marking"),
    Case("static-java", (JAVA,), static=True),
    Case("static-librdkafka", (LIBRDKAFKA,), static=True),
    Case("modern-java", (JAVA,), modern=True),
    Case("modern-librdkafka", (LIBRDKAFKA,), modern=True),
)
MORE: Final = (
    *FEW,
    Case("both", (JAVA, LIBRDKAFKA, JAVA), "range"),
    Case("cooperative", (JAVA, JAVA), "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"),
    Case("sticky", (JAVA, JAVA), "org.apache.kafka.clients.consumer.StickyAssignor"),
    Case("roundrobin", (LIBRDKAFKA, LIBRDKAFKA, LIBRDKAFKA), "roundrobin"),
)
JAVA_RANGE: Final = "org.apache.kafka.clients.consumer.RangeAssignor"


class World:
    """The groups of one configuration of the broker. ``wrong``: how the verdicts differ from what happened."""

    def __init__(self, sandbox: Sandbox, clients: Clients, limits: Limits, cases: Sequence[Case]) -> None:
        self.sandbox, self.clients, self.cases = sandbox, clients, cases
        self.prefix = f"{limits}-"
        self.members: dict[str, list[str]] = {case.name: [] for case in cases}
        self.wrong: list[str] = []
        self.found: Counter[str] = Counter()
        self.started = 0

    def group(self, case: Case) -> str:
        return self.prefix + case.name

    def join(self, case: Case, kind: str, *, modern: bool) -> str:
        """Let one more client join, and return its name."""
        self.started += 1
        name = f"{self.group(case)}-{self.started}"
        settings = {"group_protocol": "consumer"} if modern else {}
        if case.strategy and not modern:
            java = JAVA_RANGE if case.strategy == "range" else case.strategy
            settings = {"partition_assignment_strategy": java if kind == JAVA else case.strategy}
        self.clients.join(kind, name, self.group(case), "i0" if case.static else None, **settings)
        self.members[case.name].append(name)
        return name

    def leave(self, case: Case, names: Sequence[str]) -> None:
        for name in list(names):
            self.clients.leave(name)
            self.members[case.name].remove(name)

    def settled(self, sizes: Mapping[str, int], unassigned: Collection[str] = ()) -> dict[str, Row]:
        """Return the verdicts as soon as groups are stable, or empty, with these numbers of members.

        :param unassigned: the groups that remain Assigning instead.
        """

        if not sizes:
            return {}

        def stable() -> bool:
            rows = judged(self.sandbox, list(sizes), all_exist=False)
            found = {name: (row["state"], row["members"]) for name, row in rows.items()}
            states = {
                name: "Assigning" if name in unassigned else "Stable" if size else "Empty"
                for name, size in sizes.items()
            }
            return found == {name: (states[name], size) for name, size in sizes.items()}

        wait_for(f"stable groups: {sizes}", stable)
        return judged(self.sandbox, list(sizes))

    def compare(self, group: str, what: str, happened: bool, row: Row, error: str = "") -> None:
        ready = row[what] == "ready"
        self.found[f"{what} {row[what]}"] += 1
        if ready != happened:
            self.wrong.append(f"{group}: {what} {'happened' if happened else 'failed'} {error}: {row}")
        if error:
            rule = FULL if row[f"{what}_rules"] == ["group-full"] else NOT_FOUND
            if not any(text in error for text in rule):
                self.wrong.append(f"{group}: not the error of its rules: {error}: {row}")

    def run(self, others: Mapping[str, int]) -> None:
        """Let all clients upgrade, and roll back.

        :param others: further groups, with the numbers of their members, which cannot be upgraded.
        """
        for case in self.cases:
            for kind in case.members:
                self.join(case, kind, modern=case.modern)
        rows = self.settled({self.group(case): len(case.members) for case in self.cases} | dict(others))
        self.reject(rows, others)
        self.upgrade(rows)
        rows = self.settled({self.group(case): 1 for case in self.cases if self.members[case.name]})
        assert {(row["type"], row["upgrade"]) for row in rows.values()} == {("Consumer", "done")}
        for case in self.cases:
            if case.static and self.members[case.name]:
                second = self.join(case, case.members[0], modern=True)
                assert any(text in self.clients.error(second) for text in UNRELEASED), self.clients.error(second)
                self.leave(case, [second])
        self.roll_back(rows)

    def reject(self, rows: Mapping[str, Row], others: Mapping[str, int]) -> None:
        """Let clients join the groups that cannot be upgraded."""
        for number, group in enumerate(others):
            name = f"{self.prefix}{group}-intruder"
            self.clients.join((JAVA, LIBRDKAFKA)[number % 2], name, group, group_protocol="consumer")
            error = self.clients.error(name)
            self.compare(group, "upgrade", error == "", rows[group], error)
            self.clients.leave(name)

    def upgrade(self, rows: Mapping[str, Row]) -> None:
        """Replace all clients; those of a group that cannot be upgraded stop before, unless they are static."""
        newcomers: dict[Case, str] = {}
        rejected: list[Case] = []
        for case in self.cases:
            if case.static and not case.modern:
                self.leave(case, self.members[case.name])  # its member remains until its session is over
            if not case.modern:
                newcomers[case] = self.join(case, case.members[-1], modern=True)
        for case, name in newcomers.items():
            error = self.clients.error(name)
            self.compare(self.group(case), "upgrade", error == "", rows[self.group(case)], error)
            if not error:
                self.leave(case, [each for each in self.members[case.name] if each != name])
                continue
            self.leave(case, self.members[case.name])
            rejected += [] if case.static else [case]
        self.settled({self.group(case): 0 for case in rejected})
        for case in rejected:
            assert self.clients.error(self.join(case, case.members[-1], modern=True)) == "", "it had no members"

    def roll_back(self, rows: Mapping[str, Row]) -> None:
        classic = {}
        for case in self.cases:
            if old := list(self.members[case.name]):
                if case.static:
                    self.leave(case, old)
                classic[case] = self.join(case, case.members[0], modern=False), old
        rejected, left = set(), set()
        for case, (name, old) in classic.items():
            if error := self.clients.error(name):
                assert any(text in error for text in INCONSISTENT), error
                rejected.add(self.group(case))
            elif not case.static:
                self.leave(case, old)
                left.add(self.group(case))
        # The partitions of the last member with the consumer protocol are assigned to nobody, if it was not replaced.
        waiting = {name for name in left if rows[name]["rollback"] != "ready" and self.sandbox.version.name != "4.0.2"}
        after = self.settled({group: 1 for group in rows if group not in rejected}, waiting)
        self.found["rollback unassigned"] += len(waiting)
        for group, row in rows.items():
            happened = group not in rejected and after[group]["type"] == "Classic"
            self.compare(group, "rollback", happened, row)
            self.found["rollback rejected"] += group in rejected


@pytest.fixture(scope="module", params=VERSIONS)
def broker(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with migration_broker(request) as sandbox:
        yield sandbox


async def _plant(sandbox: Sandbox, prefix: str) -> dict[str, int]:
    """Create groups that no client would create."""
    kinds = {
        "cut": ("consumer", "cut", "v0"),
        "user-data": ("consumer", "v1", "custom"),
        "foreign": ("own", "v1", "v0"),
    }
    async with Seats(sandbox.bootstrap, 1) as seats:
        for name, (protocol_type, subscription, assignment) in kinds.items():
            group = RawGroup(prefix + name, seats, protocol_type)
            await group.form([RawMember(subscription=subscription, assignment=assignment)])
    return {prefix + name: 1 for name in kinds}


def _migrate(sandbox: Sandbox, folder: Path, limits: Sequence[Limits], cases: Sequence[Case], *, workers: bool) -> None:
    others = {}
    if sandbox.version.streams:
        start_streams(sandbox, STREAMS, [TOPIC], protocol="classic")
        others[STREAMS] = 1
    if workers and sandbox.version.connect:
        start_workers(sandbox, CONNECT, 1)
        others[CONNECT] = 1
    found: Counter[str] = Counter()
    wrong = []
    with JavaMembers(sandbox.bootstrap, folder / "members.log") as java:
        for each in limits:
            configure(sandbox, each.settings)
            with Clients(sandbox.bootstrap, java, TOPIC) as clients:
                world = World(sandbox, clients, each, cases)
                world.run(others | asyncio.run(_plant(sandbox, world.prefix)))
            found += world.found
            wrong += world.wrong
    print(sandbox.version.name, dict(found))
    assert not wrong
    assert found["upgrade ready"] and found["upgrade ready-if"] and found["upgrade blocked"]
    assert found["rollback ready"] and found["rollback ready-if"]
    newer = sandbox.version.name != "4.0.2"
    assert bool(found["rollback rejected"]) == newer, "which the policy disabled does from Kafka 4.3.1 on"


def test_real_clients_do_as_the_verdicts_say(broker: Sandbox, jdk: None, tmp_path: Path) -> None:
    _migrate(broker, tmp_path, (Limits("bidirectional", 2), Limits("disabled")), FEW, workers=False)


@pytest.mark.soak
def test_more_real_clients_do_as_the_verdicts_say(broker: Sandbox, jdk: None, tmp_path: Path) -> None:
    limits = (Limits("bidirectional"), Limits("upgrade", 3), Limits("downgrade"), Limits("disabled"))
    _migrate(broker, tmp_path, limits, MORE, workers=True)
