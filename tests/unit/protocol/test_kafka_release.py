from __future__ import annotations

import pytest

from kgroups.protocol.kafka_release import release_of
from kgroups.protocol.versions import BrokerVersions, VersionRange


@pytest.mark.parametrize(
    ("newest", "release"),
    [
        ({1: 7}, "Kafka 1.1 or later, before 2.0"),
        ({1: 11, 47: 0, 9: 7}, "Kafka 2.5 or later, before 2.6"),
        ({1: 12, 16: 4, 60: 0, 9: 7}, "Kafka 2.8 or later, before 3.0"),
        ({1: 18, 77: 1}, "Kafka 4.1 or later"),
        ({1: 3}, "older than Kafka 0.11"),
        ({}, "older than Kafka 0.11"),
    ],
)
def test_release_is_that_of_the_newest_known_api_version(newest: dict[int, int], release: str) -> None:
    assert release_of(BrokerVersions({key: VersionRange(0, version) for key, version in newest.items()})) == release
