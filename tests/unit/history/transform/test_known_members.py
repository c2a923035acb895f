"""Storms, flapping members, and shared instance IDs of groups that grow, shrink, are restarted, or crash."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from kgroups.history.engine.duck import DuckDB
from kgroups.history.rules import DEFAULTS
from kgroups.history.transform.definitions import DERIVED, Span
from tests.fakes.history import History, Row, at, derived_in

END = 4000
EACH = 60
"""Groups of each life and type."""
STORM, FLAPS, SHARED = "rebalance_storm", "flapping_member", "shared_instance_id"


class Members:
    """A group whose members come and go; each change is a rebalance."""

    def __init__(self, history: History, group: str, kind: str, chance: random.Random) -> None:
        self.history, self.group, self.kind, self.chance = history, group, kind, chance
        self.time, self.generation, self.named = 0.0, 0, 0
        self.present: dict[str, str] = {}
        """Member ID, or ``id=instance`` -> client ID."""
        self.rounds_after = chance.choice((0, 0, 1, 2))
        """Rebalances without a change of members that the protocol needs after each change."""

    def wait(self, least: float, most: float) -> None:
        self.time += self.chance.uniform(least, most)

    def join(self, client: str, instance: str | None = None) -> str:
        self.named += 1
        member = f"m{self.named}" + (f"={instance}" if instance else "")
        self.present[member] = client
        if self.kind != "classic":
            self.history.member(self.group, self.time, member, kind=self.kind, client_id=client)
        self._rebalanced()
        return member

    def leave(self, member: str) -> None:
        del self.present[member]
        if self.kind != "classic":
            self.history.member(self.group, self.time, member.partition("=")[0], gone=True, kind=self.kind)
        self._rebalanced()

    def replace(self, member: str, client: str) -> str:
        """A static member joins while the one with its instance ID is a member: no rebalance."""
        del self.present[member]
        self.named += 1
        new = f"m{self.named}={member.partition('=')[2]}"
        self.present[new] = client
        self._snapshot()
        return new

    def _rebalanced(self) -> None:
        for _ in range(1 + self.rounds_after if self.kind == "classic" else 1):
            self.generation += 1
            if self.kind == "classic":
                self._snapshot()
            else:
                self.history.epoch(self.group, self.time, "group", self.generation, kind=self.kind)
            self.wait(0.2, 0.5)

    def _snapshot(self) -> None:
        clients = {member.partition("=")[0]: client for member, client in self.present.items()}
        self.history.snapshot(self.group, self.time, self.generation, list(self.present), client=clients)


def start(group: Members, least: int = 1, most: int = 10) -> list[str]:
    """Members that join some seconds apart, of one host or of several."""
    shared = group.chance.random() < 0.5
    joined = []
    for number in range(group.chance.randint(least, most)):
        joined.append(group.join("app" if shared else f"app-{number}"))
        group.wait(1, 15)
    return joined


def settle(group: Members) -> None:
    group.wait(*group.chance.choice(((700, 900), (5, 30))))


def grows(group: Members) -> None:
    start(group, 4)


def grows_later(group: Members) -> None:
    start(group, 1, 3)
    settle(group)
    start(group, 4)


def shrinks(group: Members) -> None:
    joined = start(group, 4)
    settle(group)
    for member in joined[1:]:
        group.leave(member)
        group.wait(1, 20)


def is_restarted(group: Members) -> None:
    joined = start(group, 2)
    settle(group)
    for member in joined:
        client = group.present[member]
        group.leave(member)
        group.wait(1, 8)
        group.join(client)
        group.wait(1, 10)


def is_deployed(group: Members) -> None:
    """Each member is replaced by one with another name."""
    joined = start(group, 2)
    settle(group)
    for number, member in enumerate(joined):
        group.join(f"new-{number}")
        group.wait(1, 8)
        group.leave(member)
        group.wait(1, 10)


def crashes(group: Members) -> None:
    """One member joins and leaves, again and again."""
    start(group, 1, 5)
    settle(group)
    for _ in range(group.chance.randint(5, 9)):
        member = group.join("crash")
        group.wait(5, 40)
        group.leave(member)
        group.wait(1, 20)


def crashes_on_new_hosts(group: Members) -> None:
    start(group, 1, 5)
    settle(group)
    for number in range(group.chance.randint(5, 9)):
        member = group.join(f"crash-{number}")
        group.wait(5, 40)
        group.leave(member)
        group.wait(1, 20)


def shares(group: Members) -> None:
    """Two or three clients with one instance ID fence each other."""
    start(group, 1, 5)
    clients = ["host-a", "host-b", "host-c"][: group.chance.choice((2, 2, 3))]
    member = group.join(clients[0], "same")
    for turn in range(1, group.chance.randint(6, 12)):
        group.wait(2, 40)
        member = group.replace(member, clients[turn % len(clients)])


def restarts_static(group: Members) -> None:
    """One client with an instance ID of its own restarts repeatedly."""
    member = group.join("one", "own")
    for _ in range(group.chance.randint(4, 8)):
        group.wait(2, 40)
        member = group.replace(member, "one")


def moves_static(group: Members) -> None:
    """A static member moves to another host, for good."""
    start(group, 1, 5)
    member = group.join("host-a", "moved")
    settle(group)
    group.replace(member, "host-b")


LIVES: Mapping[Callable[[Members], None], set[str]] = {
    grows: set(),
    grows_later: set(),
    shrinks: set(),
    is_restarted: set(),
    is_deployed: set(),
    moves_static: set(),
    crashes: {STORM, FLAPS},
    crashes_on_new_hosts: {STORM},
    shares: {SHARED},
    restarts_static: {FLAPS},
}
"""What is true of each life."""


@pytest.fixture(scope="module")
def found() -> Iterator[dict[str, list[Row]]]:
    """The anomalies of each group."""
    chance = random.Random(20261126)
    history = History()
    groups: dict[str, list[Row]] = {}
    for live in LIVES:
        for kind in ("classic", "consumer"):
            if kind == "classic" or not live.__name__.endswith(("shares", "static")):
                for number in range(EACH):
                    name = f"{live.__name__}/{kind}/{number}"
                    groups[name] = []
                    group = Members(history, name, kind, chance)
                    live(group)
                    assert group.time < END
    records = history.next_offset(0)
    history.read(0, (0, records), records, (0, END))
    with DuckDB() as engine:
        derive: Any = derived_in(engine, history, DERIVED, Span(at(-1), at(END)), DEFAULTS)
        for row in derive("anomalies"):
            groups[row["group"]].append(row)
        yield groups


@pytest.mark.parametrize("live", LIVES, ids=lambda live: live.__name__)
def test_anomalies_are_those_of_the_life(live: Callable[[Members], None], found: dict[str, list[Row]]) -> None:
    own = {name: rows for name, rows in found.items() if name.startswith(f"{live.__name__}/")}
    assert len(own) >= EACH
    assert {name: {row["anomaly"] for row in rows} for name, rows in own.items()} == dict.fromkeys(own, LIVES[live])


def test_note_names_the_clients_of_a_shared_instance_id(found: dict[str, list[Row]]) -> None:
    rows = [row for name, rows in found.items() if name.startswith("shares/") for row in rows]
    assert len(rows) == EACH
    for row in rows:
        assert row["member"] == "same"
        assert "clients use group.instance.id same in turn (host-a@/10.0.0.1, " in row["note"]
        assert row["found"] >= 3
