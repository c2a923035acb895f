from __future__ import annotations

from kgroups.protocol.apis.api_versions import ApiVersions
from kgroups.protocol.versions import VersionRange
from tests.fakes.oracle import write
from tests.fakes.replies import OK, asked, heard, part, reply


def test_api_versions_names_the_client_from_v3_and_reads_ranges() -> None:
    assert asked(ApiVersions(), 3).client_software_name == "kgroups"
    for version in (0, 3):
        entry = part(18, version, "ApiVersion", api_key=9, min_version=1, max_version=8)
        assert heard(ApiVersions(), reply(18, version, error_code=OK, api_keys=(entry,))).ranges == {
            9: VersionRange(1, 8)
        }


def test_finalized_features_are_unknown_without_an_epoch() -> None:
    feature = part(18, 3, "FinalizedFeatureKey", name="group.version", max_version_level=1, min_version_level=0)

    def features(**fields: object) -> object:
        return heard(ApiVersions(), reply(18, 3, error_code=OK, api_keys=(), **fields)).features

    assert features(finalized_features_epoch=7, finalized_features=(feature,)) == {"group.version": 1}
    assert features(finalized_features_epoch=7) == {}
    assert features(finalized_features_epoch=-1, finalized_features=(feature,)) is None
    assert features() is None


def test_garbled_features_do_not_make_a_broker_unusable() -> None:
    feature = part(18, 3, "FinalizedFeatureKey", name="group.version", max_version_level=1, min_version_level=0)
    data = reply(18, 3, error_code=OK, api_keys=(), finalized_features_epoch=7, finalized_features=(feature,))
    broken = write(data).replace(b"\x0egroup.version", b"\x7fgroup.version")
    assert broken != write(data)
    assert ApiVersions().decode(3, broken, 0).features is None
