from __future__ import annotations

from kgroups.protocol.apis.api_versions import ApiVersions
from kgroups.protocol.versions import VersionRange
from tests.fakes.replies import OK, asked, heard, part, reply


def test_api_versions_names_the_client_from_v3_and_reads_ranges() -> None:
    assert asked(ApiVersions(), 3).client_software_name == "kgroups"
    for version in (0, 3):
        entry = part(18, version, "ApiVersion", api_key=9, min_version=1, max_version=8)
        assert heard(ApiVersions(), reply(18, version, error_code=OK, api_keys=(entry,))).ranges == {
            9: VersionRange(1, 8)
        }
