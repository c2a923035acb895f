"""Brokers newer than any known version: they add tagged fields (KIP-482) and support higher versions."""

from __future__ import annotations

from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from datetime import timedelta
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

from kgroups.admin.query.select_groups import Selection
from kgroups.protocol.apis import api_versions
from kgroups.protocol.versions import Api
from tests.fakes import versions
from tests.fakes.asking import describe, describe_offsets
from tests.fakes.broker import FakeCluster
from tests.fakes.oracle import response_type, write
from tests.fakes.streams_shop import open_shop
from tests.property.strategies import CALLS, SPOKEN, calls, entities

TAG = 9_000
"""Far from those in use."""

FLEXIBLE = [pytest.param(api, version, id=f"{api}-v{version}") for api, version in SPOKEN if version >= api.flexible]


@cache
def of_the_future(kind: type[Any]) -> type[Any]:
    """The same struct, and each struct in it, with one more tagged field."""
    made = []
    for each in fields(kind):
        again = field(metadata=each.metadata)
        again.default, again.default_factory = each.default, each.default_factory
        if is_dataclass(again.default) and not isinstance(again.default, type):
            again.default = MISSING  # of today's type
        made.append((each.name, _later(each.type), again))
    made.append(("future", str, field(metadata={"kafka_type": "string", "tag": TAG}, default="")))
    kept = ("__type__", "__version__", "__flexible__", "__api_key__", "__header_schema__")
    namespace = {name: getattr(kind, name) for name in kept if hasattr(kind, name)} | {"today": kind}
    return make_dataclass(kind.__name__, made, namespace=namespace, frozen=True, kw_only=True)


def _later(declared: Any) -> Any:
    if get_origin(declared) is UnionType:
        (inner,) = (part for part in get_args(declared) if part is not type(None))
        return _later(inner) | None
    if get_origin(declared) is tuple:
        return tuple[_later(get_args(declared)[0]), ...]
    return of_the_future(declared) if is_dataclass(declared) else declared


def today(value: Any) -> Any:
    """The same without what the future added."""
    if isinstance(value, tuple):
        return tuple(map(today, value))
    if is_dataclass(value) and hasattr(value, "today"):  # a datetime has a method of this name
        return value.today(**{each.name: today(getattr(value, each.name)) for each in fields(value.today)})
    return value


@pytest.mark.parametrize(("api", "version"), FLEXIBLE)
@settings(max_examples=max(10, settings.default.max_examples // 4))
@given(data=st.data())
def test_unknown_tagged_fields_change_nothing(api: Api, version: int, data: st.DataObject) -> None:
    call = data.draw(calls(api))
    response = data.draw(entities(of_the_future(response_type(api.key, version))))
    with_tags, without = write(response), write(today(response))
    assert call.decode(version, with_tags, 0) == call.decode(version, without, 0)


def test_generated_responses_have_unknown_tags_in_nested_structs() -> None:
    kind = of_the_future(response_type(api_versions.API.key, 3))
    (entry,) = (get_args(each.type)[0] for each in fields(kind) if each.name == "api_keys")
    nested = entry(api_key=1, min_version=2, max_version=3, future="x")
    one = kind(error_code=ErrorCode.none, throttle_time=timedelta(), api_keys=(nested,), future="yz")
    tag = b"\x01\xa8\x46"  # one tagged field, of number 9,000
    assert write(one).count(tag) == 2 and tag not in write(today(one))


@pytest.fixture
def future_version(monkeypatch: pytest.MonkeyPatch) -> str:
    """A release whose brokers support seven more versions of each API, and unknown APIs."""
    later = {key: (oldest, newest + 7) for key, (oldest, newest) in versions.KAFKA["4.4.0"].items()}
    monkeypatch.setitem(versions.KAFKA, "99.0.0", later | {29_999: (0, 12), 30_000: (3, 4)})
    return "99.0.0"


@pytest.mark.parametrize("selection", [Selection(everything=True), Selection(names=("app", "plain", "missing"))])
@pytest.mark.usefixtures("virtual_time")
def test_newer_brokers_receive_known_versions(future_version: str, selection: Selection) -> None:
    answers = []
    for version in ("4.4.0", future_version):
        fakes = FakeCluster(2, version), FakeCluster(2, version)
        for fake in fakes:
            open_shop(fake)
        described, offsets = describe(fakes[0], selection), describe_offsets(fakes[1], selection)
        groups = [group._replace(coordinator=None) for group in described.items]
        rows = [answer._replace(group=answer.group._replace(coordinator=None)) for answer in offsets.items]
        result = [[(each.name, each.error) for each in answer.failures] for answer in (described, offsets)]
        answers.append((groups, rows, result))
    assert answers[0] == answers[1]
    assert answers[0][0]


def test_every_call_is_covered() -> None:
    assert {api for api, _ in SPOKEN} == set(CALLS)
