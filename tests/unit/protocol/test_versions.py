from __future__ import annotations

import importlib
import pkgutil

import pytest

from kgroups.errors import UnsupportedVersion
from kgroups.protocol import apis
from kgroups.protocol.versions import Api, BrokerVersions, VersionRange
from tests.fakes import newer_schemas  # noqa: F401  # of versions newer than kio
from tests.fakes.oracle import request_type, response_type

API = Api(9, "OffsetFetch", 2, 8, flexible=6)


def broker(oldest: int, newest: int) -> BrokerVersions:
    return BrokerVersions({9: VersionRange(oldest, newest)})


@pytest.mark.parametrize(("oldest", "newest", "picked"), [(0, 3, 3), (0, 8, 8), (0, 10, 8), (8, 10, 8), (2, 2, 2)])
def test_pick_returns_the_newest_common_version(oldest: int, newest: int, picked: int) -> None:
    assert broker(oldest, newest).pick(API) == picked


@pytest.mark.parametrize(("oldest", "newest"), [(0, 1), (9, 10)])
def test_pick_without_common_version_names_both(oldest: int, newest: int) -> None:
    with pytest.raises(UnsupportedVersion, match=f"OffsetFetch v{oldest} to v{newest}, kgroups v2 to v8"):
        broker(oldest, newest).pick(API)
    with pytest.raises(UnsupportedVersion, match="does not support OffsetFetch"):
        BrokerVersions({}).pick(API)


def test_speaks_checks_for_a_minimum_version() -> None:
    assert broker(0, 7).speaks(API) and broker(0, 7).speaks(API, 7)
    assert not broker(0, 7).speaks(API, 8) and not BrokerVersions({}).speaks(API)


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(apis.__path__)])
def test_spoken_versions_are_known_to_kio(name: str) -> None:
    api: Api = importlib.import_module(f"kgroups.protocol.apis.{name}").API
    assert 0 <= api.oldest <= api.newest
    lacking = int(name == "describe_acls")  # kio lacks v0, that of Kafka 1.1
    for version in range(api.oldest + lacking, api.newest + 1):
        assert (request_type(api.key, version).__version__, response_type(api.key, version).__version__) == (
            version,
            version,
        )
