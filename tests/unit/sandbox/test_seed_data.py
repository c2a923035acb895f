from __future__ import annotations

import pytest

from kgroups.sandbox.seed_data import (
    DELETED_TOPIC,
    LOG_STARTS,
    OPEN_TRANSACTION,
    RECORDS,
    STRANGE_NAME,
    KnownGroup,
    Player,
    known_groups,
    lacking_groups,
)
from kgroups.sandbox.versions import VERSIONS, kafka_version

NEWEST = known_groups(kafka_version("4.3.1"))


def test_newest_kafka_has_all_known_groups() -> None:
    assert lacking_groups(kafka_version("4.3.1")) == {}
    assert len({group.name for group in NEWEST}) == len(NEWEST) == 15


@pytest.mark.parametrize(
    ("version", "lacking"),
    [
        ("1.1.1", {"orders-kip848", "orders-static"}),
        ("2.5.1", {"orders-kip848"}),
        ("2.8.2", {"orders-kip848"}),
        ("3.9.1", set()),
    ],
)
def test_older_kafka_lacks_newer_groups(version: str, lacking: set[str]) -> None:
    names = {group.name for group in known_groups(kafka_version(version))}
    assert set(lacking_groups(kafka_version(version))) == lacking
    assert names == {group.name for group in NEWEST} - lacking


def test_consumer_protocol_groups_use_librdkafka() -> None:
    players = {
        version: {group.player for group in known_groups(kafka) if group.type == "Consumer"}
        for version, kafka in VERSIONS.items()
    }
    assert players == {
        "1.1.1": set(),
        "2.5.1": set(),
        "2.8.2": set(),
        "3.9.1": {Player.JAVA},
        "4.3.1": {Player.LIBRDKAFKA},
        "4.4.0": {Player.LIBRDKAFKA},
    }


@pytest.mark.parametrize("known", NEWEST, ids=lambda known: ascii(known.name))
def test_known_groups_refer_to_existing_partitions(known: KnownGroup) -> None:
    for topic, offsets in known.committed.items():
        assert set(offsets) <= set(RECORDS[topic])
    assert set(known.topics) <= set(RECORDS)
    assert bool(known.members) == (known.player != Player.NOBODY) == (known.state == "Stable")
    if known.assigned:
        assert known.members <= len(known.assigned)
        assert {topic for topic, _ in known.assigned} == set(known.topics)
    assert DELETED_TOPIC not in known.commits


@pytest.mark.parametrize("known", [each for each in NEWEST if each.player == Player.JAVA], ids=lambda known: known.name)
def test_console_consumer_commits_all_its_records(known: KnownGroup) -> None:
    assert known.commits == {topic: RECORDS[topic] for topic in known.topics}


def test_known_groups_include_the_unusual_cases() -> None:
    groups = {group.name: group for group in NEWEST}
    assert groups["ahead"].commits["clicks"][0] > RECORDS["clicks"][0]
    assert groups["data-lost"].commits["clicks"][0] < LOG_STARTS["clicks"][0]
    assert groups["ledger-reader"].commits["ledger"][0] == RECORDS["ledger"][0] and OPEN_TRANSACTION["ledger"][0] > 0
    assert groups["payments-lagging"].commits["payments"].keys() == RECORDS["payments"].keys()
    assert groups["orders-static"].instances == ["orders-static-0", "orders-static-1"]
    assert not STRANGE_NAME.isprintable() and not STRANGE_NAME.isascii() and " " in STRANGE_NAME
