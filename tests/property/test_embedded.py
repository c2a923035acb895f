from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_entity_schema
from kio.static.constants import EntityType

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Subscription, assignment_of
from kgroups.protocol.embedded.consumer import decode_assignment, decode_subscription
from kgroups.protocol.embedded.registry import decode_member
from kgroups.protocol.schema import read, write
from tests.fakes.world import assignment_bytes, subscription_bytes
from tests.property.strategies import damaged, entities
from tests.property.test_apis import survives_absurd_lengths  # noqa: F401  # a fixture

held = st.dictionaries(
    st.text(min_size=1, max_size=8), st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple), max_size=4
)
rubbish = st.binary(max_size=64) | damaged(held.map(assignment_bytes)) | damaged(held.map(subscription_bytes))


@given(held)
def test_an_assignment_is_read_as_it_was_written(held: dict[str, tuple[int, ...]]) -> None:
    assert decode_assignment(assignment_bytes(held)) == assignment_of(held.items())


@pytest.mark.usefixtures("survives_absurd_lengths")
@given(st.sampled_from(["consumer", "connect", ""]), rubbish, rubbish)
def test_any_bytes_give_a_member(protocol_type: str, metadata: bytes, assignment: bytes) -> None:
    subscription, assigned = decode_member(protocol_type, metadata, assignment)
    assert isinstance(subscription, Subscription) and isinstance(assigned, Assignment)
    assert (str(subscription), str(assigned)) is not None
    for raw, data in ((subscription.raw, metadata), (assigned.raw, assignment)):
        assert raw is None or (raw.data == data and raw.reason)


def kind_of(name: str, version: int) -> Any:
    return load_entity_schema(f"consumer_protocol_{name}", min(version, 3), EntityType.data)


def subscription_by_kio(entity: Any) -> Subscription:
    generation = getattr(entity, "generation_id", -1)
    owned = assignment_of((entry.topic, entry.partitions) for entry in getattr(entity, "owned_partitions", ()))
    return Subscription(tuple(sorted(entity.topics)), None, owned, None if generation < 0 else generation)


def assignment_by_kio(entity: Any) -> Assignment:
    return assignment_of((entry.topic, entry.partitions) for entry in entity.assigned_partitions)


KINDS = [
    ("subscription", decode_subscription, subscription_by_kio),
    ("assignment", decode_assignment, assignment_by_kio),
]
each_kind = pytest.mark.parametrize(("name", "decode", "by_kio"), KINDS, ids=[name for name, _, _ in KINDS])
every_version = pytest.mark.parametrize("version", range(5))


@each_kind
@every_version
@given(data=st.data())
def test_it_is_read_as_by_kio(version: int, name: str, decode: Any, by_kio: Any, data: st.DataObject) -> None:
    entity = data.draw(entities(kind_of(name, version)))
    before, behind = version.to_bytes(2, "big"), data.draw(st.binary(max_size=3))
    assert decode(before + write(entity) + behind) == by_kio(entity)


@pytest.mark.usefixtures("survives_absurd_lengths")
@each_kind
@every_version
@given(data=st.data())
def test_what_kio_cannot_read_is_raw(version: int, name: str, decode: Any, by_kio: Any, data: st.DataObject) -> None:
    kind = kind_of(name, version)
    rubbish = data.draw(damaged(entities(kind).map(write)))
    found = decode(version.to_bytes(2, "big") + rubbish)
    try:
        entity, _ = read(kind, rubbish)
    except RemoteProtocolError:
        assert found.raw
    else:
        assert found == by_kio(entity)
