from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.protocol.apis.list_groups import ListGroups
from tests.fakes.replies import OK, heard, part, reply


@pytest.mark.parametrize(("version", "state", "kind"), [(0, None, None), (4, "Stable", None), (5, "Stable", "Classic")])
def test_list_groups_reads_what_the_version_carries(version: int, state: str | None, kind: str | None) -> None:
    entry = part(
        16, version, "ListedGroup", group_id="g", protocol_type="consumer", group_state="Stable", group_type="Classic"
    )
    listed = heard(ListGroups(), reply(16, version, error_code=OK, groups=(entry,)))
    assert listed == (None, (("g", "consumer", state, kind),))


def test_list_groups_keeps_what_a_loading_coordinator_has() -> None:
    entry = part(16, 0, "ListedGroup", group_id="g", protocol_type="")
    listed = heard(ListGroups(), reply(16, 0, error_code=ErrorCode.coordinator_load_in_progress, groups=(entry,)))
    assert listed.error and len(listed.entries) == 1
