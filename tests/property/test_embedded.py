from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_entity_schema
from kio.static.constants import EntityType

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.outcome import Outcome
from kgroups.model.views.member_rows import member_rows
from kgroups.protocol.embedded.classic_streams import decode_assignment_info, decode_subscription_info
from kgroups.protocol.embedded.consumer import decode_assignment, decode_subscription, raw_user_data
from kgroups.protocol.embedded.registry import TYPES, USER_DATA, decode_member
from kgroups.protocol.embedded.sticky import decode_cooperative, decode_sticky
from kgroups.render.member_views import MEMBERS
from kgroups.render.output import write_outcome
from kgroups.render.views import Tier
from tests.fakes.cluster_state import assignment_bytes, subscription_bytes
from tests.fakes.oracle import read, write
from tests.property.strategies import damaged, entities
from tests.property.test_apis import survives_absurd_lengths  # noqa: F401  # a fixture
from tests.unit.protocol.embedded.real_bytes import REAL

held = st.dictionaries(
    st.text(min_size=1, max_size=8), st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple), max_size=4
)
rubbish = st.binary(max_size=64) | damaged(held.map(assignment_bytes)) | damaged(held.map(subscription_bytes))


@given(held)
def test_assignment_round_trips(held: dict[str, tuple[int, ...]]) -> None:
    assert decode_assignment(assignment_bytes(held)).topics == assignment_of(held.items()).topics


PROTOCOLS = [(kind, "") for kind in ("", "sheep", *TYPES)] + [("consumer", name) for name in ("range", *USER_DATA)]
embedded = [data for sent in REAL for data in (sent.metadata, sent.assignment)]


@pytest.mark.usefixtures("survives_absurd_lengths")
@given(st.sampled_from(PROTOCOLS), rubbish | damaged(st.sampled_from(embedded)), rubbish | st.sampled_from(embedded))
def test_any_bytes_decode_to_a_member(kind: tuple[str, str], metadata: bytes, assignment: bytes) -> None:
    protocol_type, protocol = kind
    subscription, assigned = decode_member(protocol_type, metadata, assignment, protocol)
    assert isinstance(subscription, Subscription) and isinstance(assigned, Assignment)
    assert (str(subscription), str(assigned)) is not None
    for raw, data in ((subscription.raw, metadata), (assigned.raw, assignment)):
        assert raw is None or (raw.data == data and raw.reason)
    member = Member("m", "c", "/h", assigned, subscription=subscription)
    group = Group("g", "Classic", "Stable", protocol_type, protocol, Node(1, "h", 1), (member,))
    for fmt in ("jsonl", "plain"):
        shown = io.StringIO()
        write_outcome(Outcome(tuple(member_rows(group))), MEMBERS, fmt=fmt, stream=shown, tier=Tier.WIDE)
        assert all(line.isprintable() for line in shown.getvalue().splitlines())


@pytest.mark.usefixtures("survives_absurd_lengths")
@given(
    st.sampled_from([decode_subscription_info, decode_assignment_info, decode_sticky, decode_cooperative]),
    st.binary(max_size=80) | damaged(st.sampled_from(embedded).map(lambda data: data[6:])),
)
def test_any_bytes_decode_to_user_data(decode: Any, data: bytes) -> None:
    found = decode(data)
    assert str(found).isprintable() or str(found)
    assert not isinstance(found, Raw) or (found.data == data and found.reason)


def kind_of(name: str, version: int) -> Any:
    return load_entity_schema(f"consumer_protocol_{name}", min(version, 3), EntityType.data)


def subscription_by_kio(entity: Any, version: int) -> Subscription:
    generation = getattr(entity, "generation_id", -1)
    return Subscription(
        topics=tuple(sorted(entity.topics)),
        owned=assignment_of((entry.topic, entry.partitions) for entry in getattr(entity, "owned_partitions", ())),
        generation=None if generation < 0 else generation,
        rack=getattr(entity, "rack_id", None),
        version=version,
        user_data=raw_user_data(entity.user_data) if entity.user_data else None,
    )


def assignment_by_kio(entity: Any, version: int) -> Assignment:
    held = assignment_of((entry.topic, entry.partitions) for entry in entity.assigned_partitions)
    user_data = raw_user_data(entity.user_data) if entity.user_data else None
    return held._replace(version=version, user_data=user_data)


KINDS = [
    ("subscription", decode_subscription, subscription_by_kio),
    ("assignment", decode_assignment, assignment_by_kio),
]
each_kind = pytest.mark.parametrize(("name", "decode", "by_kio"), KINDS, ids=[name for name, _, _ in KINDS])
every_version = pytest.mark.parametrize("version", range(5))


@each_kind
@every_version
@given(data=st.data())
def test_subscription_and_assignment_match_kio(
    version: int, name: str, decode: Any, by_kio: Any, data: st.DataObject
) -> None:
    entity = data.draw(entities(kind_of(name, version)))
    before, behind = version.to_bytes(2, "big"), data.draw(st.binary(max_size=3))
    found = decode(before + write(entity) + behind)
    assert found._replace(note=None) == by_kio(entity, version)
    assert (found.note is not None) == (version > 3 or bool(behind))


@pytest.mark.usefixtures("survives_absurd_lengths")
@each_kind
@every_version
@given(data=st.data())
def test_bytes_that_kio_rejects_are_raw_or_noted(
    version: int, name: str, decode: Any, by_kio: Any, data: st.DataObject
) -> None:
    kind = kind_of(name, version)
    rubbish = data.draw(damaged(entities(kind).map(write)))
    found = decode(version.to_bytes(2, "big") + rubbish)
    try:
        entity, _ = read(kind, rubbish)
    except RemoteProtocolError:
        assert found.raw or found.note
    else:
        assert found._replace(note=None) == by_kio(entity, version)
