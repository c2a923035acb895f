"""Partitions of internal topics that store groups. The value was computed by Java, as ShareCoordinator does."""

from __future__ import annotations

from kgroups.model.placement import partition_of, share_partition_of


def test_share_state_is_placed_by_the_hash_of_group_topic_id_and_partition() -> None:
    key = "workers:AAECAwQFBgcICQoLDA0ODw:3"
    assert share_partition_of("workers", "AAECAwQFBgcICQoLDA0ODw", 3, 50) == partition_of(key, 50) == 6
