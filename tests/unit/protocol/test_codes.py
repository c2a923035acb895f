"""The table of error codes, compared with kio's."""

from __future__ import annotations

import pickle

import pytest
from kio.schema.errors import ErrorCode

from kgroups.protocol.codes import Code
from kgroups.protocol.error_codes import kafka_error


@pytest.mark.parametrize("theirs", ErrorCode, ids=lambda code: code.name)
def test_code_matches_kio(theirs: ErrorCode) -> None:
    ours = Code(theirs)
    assert (ours, ours.name, ours.retriable) == (int(theirs), theirs.name, theirs.retriable)
    assert ours is getattr(Code, theirs.name)
    assert repr(ours) == f"Code.{theirs.name}"


NEWER = {
    134: "group_deletion_failed",
    135: "streams_topology_description_update_failed",
    136: "controller_id_not_registered",
}
"""Of Kafka 4.4, which kio does not have yet."""


def test_codes_are_complete() -> None:
    ours = {code for code in vars(Code).values() if isinstance(code, Code)}
    assert ours == {*ErrorCode, *NEWER}
    assert {code: Code(code).name for code in NEWER} == NEWER


def test_unknown_code_has_a_generic_name() -> None:
    unknown = Code(max(NEWER) + 1)
    assert (unknown.name, unknown.retriable) == (f"unknown_error_{unknown:d}", False)
    assert kafka_error(unknown).name == unknown.name.upper()


def test_codes_are_unique_per_number() -> None:
    assert pickle.loads(pickle.dumps(Code.not_coordinator)) is Code.not_coordinator
    assert Code.not_coordinator in {16} and not Code.none
