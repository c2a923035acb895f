from __future__ import annotations

from kgroups.errors import Reason
from kgroups.model.outcome import Failure, Scope
from kgroups.protocol.error_codes import BACK_OFF, LEADER_MOVED, MOVED, Code, kafka_error


def test_error_message_prefers_ours_then_the_broker_then_the_name() -> None:
    assert kafka_error(Code.group_id_not_found, "Group g not found.").message == "the group does not exist"
    assert kafka_error(Code.unknown_server_error, "disk on fire").message == "disk on fire"
    assert kafka_error(Code.unknown_server_error).message == "unknown server error"


def test_error_failure_has_kafka_name_and_code() -> None:
    failure = kafka_error(Code.not_coordinator).failure(Scope.GROUP, "g", api="OffsetFetch", broker=2)
    words = "not the coordinator (it moves, or has not taken over yet)"
    assert failure == Failure(
        Scope.GROUP, "g", words, "NOT_COORDINATOR", 16, "OffsetFetch", 2, reason=Reason.COORDINATOR_UNAVAILABLE
    )


def test_error_sets_are_disjoint() -> None:
    assert not (MOVED & BACK_OFF or BACK_OFF & LEADER_MOVED or MOVED & LEADER_MOVED)
