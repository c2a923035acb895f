"""``--positions spark:PATH[=NAME]``."""

from __future__ import annotations

import pytest

from kgroups.config.positions import PositionSource, position_sources
from kgroups.errors import UsageError


@pytest.mark.parametrize(
    ("value", "name", "location"),
    [
        ("spark:/ckpt/enrich", "enrich", "/ckpt/enrich"),
        ("spark:/ckpt/enrich/", "enrich", "/ckpt/enrich/"),
        ("spark:enrich", "enrich", "enrich"),
        ("spark:/ckpt/enrich=orders", "orders", "/ckpt/enrich"),
        ("spark:/data/date=2026-11-27/", "date=2026-11-27", "/data/date=2026-11-27/"),
        ("spark:/data/date=2026-11-27/ckpt", "ckpt", "/data/date=2026-11-27/ckpt"),
        ("spark:s3://b/p/enrich", "enrich", "s3://b/p/enrich"),
        ("spark:s3://b/p/enrich=orders", "orders", "s3://b/p/enrich"),
        ("spark:s3://b=orders", "orders", "s3://b"),
        ("spark:s3://b/enrich?region=eu-west-1", "enrich", "s3://b/enrich?region=eu-west-1"),
        ("spark:s3://b/enrich?region=eu-west-1=orders", "orders", "s3://b/enrich?region=eu-west-1"),
        ("spark:s3://b/enrich?a=1&b=2", "enrich", "s3://b/enrich?a=1&b=2"),
        ("spark:abfss://c@account.dfs.core.windows.net/q", "q", "abfss://c@account.dfs.core.windows.net/q"),
    ],
)
def test_value_has_a_location_and_a_name(value: str, name: str, location: str) -> None:
    assert position_sources([value]) == (PositionSource(name, location),)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["/ckpt"], "must be spark:PATH"),
        (["flink:/ckpt"], "must be spark:PATH"),
        (["spark:"], "the path is empty"),
        (["spark:/"], "the path is empty"),
        (["spark:/ckpt="], "the name after = is empty"),
        (["spark:."], "add =NAME"),
        (["spark:s3://bucket"], "add =NAME"),
        (["spark:/a/x\n"], "not a valid name"),
        (["spark:/a/x", "spark:/b/x"], "two checkpoints have the name 'x'"),
        (["spark:/a/x", "spark:/a/x"], "'x' is given twice"),
    ],
)
def test_invalid_value_is_an_error(values: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        position_sources(values)
