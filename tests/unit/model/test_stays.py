"""Random membership histories whose truth is known: who comes and goes repeatedly, who shares an instance ID."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from kgroups.model.stays import REPEATED, Presence, Stay, StayRecorder, restarts, shared_instances

START = 1_000_000
"""When the first unread record begins to wait."""


class Scene:
    """A classic group with a clock: each change of its members writes a record, at times also in between."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.recorder = StayRecorder()
        self.members: dict[str, Presence] = {}
        self.time = START - 500_000
        self._number = 0

    def write(self) -> None:
        for _ in range(self.random.choice((1, 1, 2))):
            self.time += self.random.randrange(1, 5_000)
            self.recorder.snapshot(self.time, dict(self.members))

    def join(self, client: str, instance_id: str | None = None) -> str:
        self._number += 1
        member_id = f"{client}-{self._number}"
        self.members[member_id] = Presence(instance_id, client)
        self.write()
        return member_id

    def leave(self, member_id: str) -> None:
        del self.members[member_id]
        self.write()

    def take(self, member_id: str, client: str, instance_id: str) -> str:
        """A static member joins: the one with its instance ID is replaced, in one record."""
        del self.members[member_id]
        return self.join(client, instance_id)

    def wait_for_start(self) -> None:
        self.write()
        self.time = max(self.time, START)

    @property
    def stays(self) -> list[Stay]:
        return list(self.recorder.stays)


def name(scene: Scene, at: int) -> str:
    return f"client-{at}@10.0.0.{at}"


def grows(scene: Scene) -> None:
    scene.wait_for_start()
    for at in range(scene.random.randrange(1, 9)):
        scene.join(name(scene, at))


def shrinks(scene: Scene) -> None:
    before = [scene.join(name(scene, at)) for at in range(scene.random.randrange(2, 9))]
    scene.wait_for_start()
    for member_id in before[: scene.random.randrange(1, len(before) + 1)]:
        scene.leave(member_id)


def grows_and_shrinks(scene: Scene) -> None:
    scene.wait_for_start()
    for member_id in [scene.join(name(scene, at)) for at in range(scene.random.randrange(2, 9))]:
        scene.leave(member_id)


def rolls(scene: Scene) -> None:
    """All members are restarted, once or twice, static or not, each with its name."""
    static = scene.random.random() < 0.5
    number = scene.random.randrange(2, 7)

    def instance(at: int) -> str | None:
        return f"pod-{at}" if static else None

    members = [scene.join(name(scene, at), instance(at)) for at in range(number)]
    scene.wait_for_start()
    for _ in range(scene.random.choice((1, 2))):
        for at in range(number):
            if static and scene.random.random() < 0.5:
                members[at] = scene.take(members[at], name(scene, at), f"pod-{at}")
            else:
                scene.leave(members[at])
                members[at] = scene.join(name(scene, at), instance(at))


def moves(scene: Scene) -> None:
    """A static member is started on another host, for good."""
    member_id = scene.join("pod-0@10.0.0.1", "pod-0")
    scene.wait_for_start()
    scene.take(member_id, "pod-0@10.0.0.2", "pod-0")


def crashes(scene: Scene) -> None:
    """One client, alone or next to healthy ones, joins and leaves; it may have another name each time."""
    for at in range(scene.random.randrange(0, 4)):
        scene.join(name(scene, at))
    scene.wait_for_start()
    unique = scene.random.random() < 0.5
    crashing: str | None = None
    for at in range(scene.random.randrange(3, 9)):
        if crashing:
            scene.leave(crashing)
        crashing = scene.join(name(scene, 100 + at if unique else 100))


HEALTHY = [grows, shrinks, grows_and_shrinks, rolls, moves]


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("play", HEALTHY, ids=lambda play: play.__name__)
def test_healthy_group_is_in_no_crash_loop_and_shares_no_instance_id(play: Callable[[Scene], None], seed: int) -> None:
    scene = Scene(seed)
    play(scene)
    assert restarts(scene.stays, START) < 2
    assert not shared_instances(scene.stays)


@pytest.mark.parametrize("seed", range(60))
def test_client_that_comes_and_goes_is_counted(seed: int) -> None:
    scene = Scene(seed)
    crashes(scene)
    assert restarts(scene.stays, START) >= 2
    assert restarts(scene.stays, scene.time) == 0
    assert not shared_instances(scene.stays)


@pytest.mark.parametrize("seed", range(60))
def test_two_clients_with_one_instance_id_are_named(seed: int) -> None:
    scene = Scene(seed)
    for at in range(scene.random.randrange(0, 3)):
        scene.join(name(scene, at), f"other-{at}")
    clients = ("podA@10.0.0.1", "podB@10.0.0.2")
    turns = scene.random.randrange(REPEATED, 12)
    member_id = scene.join(clients[0], "pod-0")
    for at in range(turns):
        if scene.random.random() < 0.3:  # a session was over before
            scene.leave(member_id)
            member_id = scene.join(clients[(at + 1) % 2], "pod-0")
        else:
            member_id = scene.take(member_id, clients[(at + 1) % 2], "pod-0")
    (found,) = shared_instances(scene.stays)
    assert (found.instance_id, set(found.clients), found.turns, found.is_certain) == (
        "pod-0",
        set(clients),
        turns,
        True,
    )


@pytest.mark.parametrize("times", [1, 2, 3, 7])
def test_replacements_by_a_client_of_the_same_name_are_uncertain(times: int) -> None:
    scene = Scene(times)
    member_id = scene.join("app@10.0.0.1", "pod-0")
    for _ in range(times):
        member_id = scene.take(member_id, "app@10.0.0.1", "pod-0")
    found = shared_instances(scene.stays)
    assert [(each.turns, each.is_certain) for each in found] == ([(times, False)] if times >= REPEATED else [])


def test_records_of_members_of_other_group_types_are_stays() -> None:
    recorder = StayRecorder()
    recorder.joined(10, "m-1", Presence("pod-0", "a@h"))
    recorder.joined(20, "m-1", Presence("pod-0", "a@h"))
    recorder.left(30, "m-1")
    recorder.joined(30, "m-2", Presence("pod-0", "b@h"))
    recorder.left(40, "unknown")
    assert [(stay.member_id, stay.since, stay.until) for stay in recorder.stays] == [("m-1", 10, 30), ("m-2", 30, None)]
