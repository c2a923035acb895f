from __future__ import annotations

import pytest

from kgroups.protocol.apis.describe_groups import ClassicGroup, DescribeGroups
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
