from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.protocol.apis.describe_groups import ClassicGroup, DescribeGroups, GroupOperations
from kgroups.protocol.apis.metadata import UNAVAILABLE
from kgroups.protocol.error_codes import KafkaError
from tests.fakes.replies import OK, asked, heard, part, reply


@pytest.mark.parametrize("version", range(7))
def test_describe_groups_reads_a_group_in_every_version(version: int) -> None:
    assert asked(DescribeGroups(("g",)), version).groups == ("g",)
    member = part(
        15,
        version,
        "DescribedGroupMember",
        member_id="m",
        group_instance_id="i",
        client_id="c",
        client_host="/h",
        member_metadata=b"",
        member_assignment=b"",
    )
    values = {"group_state": "Stable", "protocol_type": "consumer", "protocol_data": "range", "error_message": None}
    entry = part(15, version, "DescribedGroup", error_code=OK, group_id="g", members=(member,), **values)
    found = heard(DescribeGroups(("g",)), reply(15, version, groups=(entry,)))["g"]
    assert isinstance(found, ClassicGroup)
    assert found[:4] == ("g", "Stable", "consumer", "range")
    assert found.members[0].instance_id == ("i" if version >= 4 else None)


@pytest.mark.parametrize("version", [0, 5, 6])
def test_describe_groups_dead_group_is_not_found_in_any_version(version: int) -> None:
    values = {"group_state": "Dead", "protocol_type": "", "protocol_data": "", "error_message": None, "members": ()}
    entry = part(15, version, "DescribedGroup", error_code=OK, group_id="g", **values)
    found = heard(DescribeGroups(("g",)), reply(15, version, groups=(entry,)))["g"]
    assert isinstance(found, KafkaError) and found.name == "GROUP_ID_NOT_FOUND"


@pytest.mark.parametrize("version", [3, 4, 5])
def test_operations_are_those_of_groups_that_exist_or_not(version: int) -> None:
    request = GroupOperations(("g", "gone", "refused"))
    assert asked(request, version).include_authorized_operations is True
    values = {"protocol_type": "", "protocol_data": "", "members": ()}
    entries = [
        part(
            15,
            version,
            "DescribedGroup",
            error_code=error,
            group_id=name,
            group_state="Dead",
            authorized_operations=bits,
            **values,
        )
        for name, error, bits in (
            ("g", OK, 1 << 3),
            ("gone", OK, 0),
            ("silent", OK, UNAVAILABLE),
            ("refused", ErrorCode.group_authorization_failed, UNAVAILABLE),
        )
    ]
    found = dict(heard(request, reply(15, version, groups=tuple(entries))))
    assert isinstance(found.pop("refused"), KafkaError)
    assert found == {"g": {"READ"}, "gone": frozenset()}
