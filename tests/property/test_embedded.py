from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import Assignment, Subscription, assignment_of
from kgroups.protocol.embedded.consumer import decode_assignment
from kgroups.protocol.embedded.registry import decode_member
from tests.fakes.world import assignment_bytes, subscription_bytes
from tests.property.strategies import damaged
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
