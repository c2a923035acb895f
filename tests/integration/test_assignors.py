"""Offline assignors compared with Kafka's own, partition by partition, for hundreds of generated groups."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.model.assignors import OF_BROKERS, OF_CLIENTS
from kgroups.model.assignors.shape import Assignor, Participant, Topic, TopicPartition
from tests.integration.assignor_oracle import Case, OracleError, ask_kafka

A_KIND = 150
ASSIGNORS = {("client", name): assign for name, assign in OF_CLIENTS.items()} | {
    ("broker", name): assign for name, assign in OF_BROKERS.items()
}


def cases() -> Iterator[Case]:
    chance = random.Random(7)
    for side, name in ASSIGNORS:
        for number in range(A_KIND):
            topics = {
                chance.choice(("t", "orders-", "Zürich")) + str(each): Topic(
                    chance.choice((0, 1, 2, 3, 6, 13, 40)), chance.getrandbits(128)
                )
                for each in range(chance.randrange(1, 6))
            }
            if number % 10 == 0:  # large groups meet collisions of hashes
                topics["large"] = Topic(chance.randrange(100, 300), chance.getrandbits(128))
            members = chance.randrange(1, 60 if number % 10 == 0 else 9)
            yield Case(side, name, tuple(_members(chance, side, members, topics, equal=number % 2 == 0)), topics)


def _members(
    chance: random.Random, side: str, count: int, topics: dict[str, Topic], *, equal: bool
) -> Iterator[Participant]:
    """Return old, new, and outdated members; clients may claim a partition twice."""
    names = sorted(topics)
    common = tuple(chance.sample(names, chance.randrange(1, len(names) + 1)))
    every = [(topic, partition) for topic in names for partition in range(topics[topic].partitions)]
    chance.shuffle(every)
    seen = chance.choice((0.0, 0.5, 1.0))
    generations = chance.choice(((5,), (5,), (5, 5, 5, 4, None), (None,)))
    for number in range(count):
        wanted = common if equal else tuple(chance.sample(names, chance.randrange(0, len(names) + 1)))
        if chance.random() < 0.1:
            wanted = (*wanted, "no-such-topic")
        held: list[TopicPartition] = []
        if chance.random() < seen:
            held = [every.pop() for _ in range(min(len(every), chance.randrange(0, 1 + 2 * len(every) // count)))]
            if side == "client" and held and chance.random() < 0.2:
                every.append(chance.choice(held))
        yield Participant(
            f"client-{chance.randrange(3)}-{chance.getrandbits(64):x}",
            wanted,
            tuple(held),
            chance.choice(generations) if held else chance.choice((None, *generations)),
            f"static-{number}" if chance.random() < 0.2 else None,
        )


@pytest.mark.usefixtures("jdk")
def test_assignors_match_those_of_kafka(tmp_path: Path) -> None:
    """Nothing is left out: also the order of Java's HashMaps is worked out, and ties are broken alike."""
    asked = list(cases())
    failed = []
    for case, answer in zip(asked, ask_kafka(asked, tmp_path), strict=True):
        assign: Assignor = ASSIGNORS[case.side, case.assignor]
        ours = {name: set(partitions) for name, partitions in assign(case.members, case.topics).items()}
        if isinstance(answer, OracleError):
            failed.append((case.assignor, str(answer)))
        else:
            assert ours == answer, case
    assert len(asked) == A_KIND * len(ASSIGNORS)
    # Java's sticky ends with an error where a partition's last owner can take part no more; ours goes on.
    assert {(name.endswith("sticky"), "NullPointerException" in why) for name, why in failed} <= {(True, True)}
    assert len(failed) <= 5
