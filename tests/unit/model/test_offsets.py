"""Partitions in text."""

from __future__ import annotations

import pytest

from kgroups.model.offsets import place_name


@pytest.mark.parametrize(("partition", "text"), [(0, "t-0"), (12, "t-12"), (-1, "t partition -1")])
def test_place_name_joins_topic_and_partition(partition: int, text: str) -> None:
    assert place_name("t", partition) == text
