"""The order of Java's hash maps, as Java 17 gave it."""

from __future__ import annotations

import pytest

from kgroups.model.assignors.java_order import copied, grown, hash_of_partition, hash_of_text, hash_of_uuid


@pytest.mark.parametrize(
    ("text", "hash_code"),
    [
        ("", 0),
        ("a", 97),
        ("orders", -1008770331),
        ("Zürich", -1482116162),
        ("🂡", 1772517),
        ("polygenelubricants", -(2**31)),
    ],
)
def test_hash_of_text_matches_java(text: str, hash_code: int) -> None:
    assert hash_of_text(text) == hash_code % 2**32


def test_hash_of_partition_combines_topic_and_number() -> None:
    assert hash_of_partition(("orders", 3)) == (31 * 34 - 1008770331) % 2**32


def test_hash_of_uuid_combines_its_halves() -> None:
    assert hash_of_uuid(1) == 1 and hash_of_uuid(1 << 64 | 1) == 0 and hash_of_uuid(1 << 127) == 1 << 31


def test_hash_map_iterates_by_bucket_and_resizes() -> None:
    assert grown([17, 1, 33, 2, 0], int) == [0, 17, 1, 33, 2]
    assert grown([*range(12), 16], int) == [*range(12), 16]  # 32 buckets: 16 has one of its own
    assert grown([16, *range(11)], int) == [16, *range(11)]  # 16 buckets: it shares the first


def test_copied_set_has_larger_capacity_than_grown_one() -> None:
    twelve = [16, *range(1, 12)]
    assert grown(twelve, int) == [16, *range(1, 12)]
    assert copied(twelve, int) == [*range(1, 12), 16]
