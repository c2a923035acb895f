from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.cluster import Node
from kgroups.protocol.apis.find_coordinator import FindCoordinator
from kgroups.protocol.error_codes import KafkaError
from tests.fakes.replies import OK, asked, heard, part, reply


@pytest.mark.parametrize("version", [0, 3])
def test_find_coordinator_asks_about_one_group_before_v4(version: int) -> None:
    call = FindCoordinator(("g",))
    assert asked(call, version).key == "g"
    answer = reply(10, version, error_code=OK, error_message=None, node_id=1, host="h", port=2)
    assert heard(call, answer) == {"g": Node(1, "h", 2)}
    error = reply(
        10, version, error_code=ErrorCode.coordinator_not_available, error_message=None, node_id=-1, host="", port=-1
    )
    assert isinstance(heard(call, error)["g"], KafkaError)


def test_find_coordinator_asks_about_many_from_v4() -> None:
    call = FindCoordinator(("a", "b"))
    assert (asked(call, 4).coordinator_keys, asked(call, 4).key_type, call.keys) == (("a", "b"), 0, 2)
    good = part(10, 4, "Coordinator", key="a", node_id=1, host="h", port=2, error_code=OK, error_message=None)
    denied = ErrorCode.group_authorization_failed
    bad = part(10, 4, "Coordinator", key="b", node_id=-1, host="", port=-1, error_code=denied, error_message="no")
    found = heard(call, reply(10, 4, coordinators=(good, bad)))
    assert found["a"] == Node(1, "h", 2)
    assert isinstance(found["b"], KafkaError) and found["b"].code == denied
