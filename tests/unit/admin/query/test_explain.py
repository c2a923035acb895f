"""Data for an explanation, and what remains if a request fails."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.explain import _limit, gather_facts
from kgroups.admin.query.select_groups import Selection
from kgroups.model.effective_setting import Effective
from kgroups.model.explain.facts import GroupFacts, Limit, MemberTimeouts, Placement
from kgroups.model.outcome import Outcome
from kgroups.model.permissions import OMITTED_COMMITS_NOTICE
from kgroups.model.placement import partition_of
from kgroups.protocol.error_codes import Code, kafka_error
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster, is_probe
from tests.fakes.cluster_state import FakeMember

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
DEFAULT = Limit("group.max.size", 7, False)


def test_limit_without_reported_value_is_the_default() -> None:
    assert _limit({"group.max.size": "12"}, DEFAULT) == Limit("group.max.size", 12, True)
    assert _limit({"group.max.size": None}, DEFAULT) == DEFAULT
    assert _limit({"group.max.size": "many"}, DEFAULT) == DEFAULT
    assert _limit({}, DEFAULT) == _limit(None, DEFAULT) == DEFAULT
    assert _limit(kafka_error(Code.cluster_authorization_failed), DEFAULT) == DEFAULT


def shop(version: str = "4.3.1") -> FakeCluster:
    fake = FakeCluster(2, version)
    fake.state.topic("__consumer_offsets", [0, 1, 0])
    fake.state.topic("t", [0, 1])
    fake.state.group("a", 0, state="Stable", members=(FakeMember("m", {"t": (0,), "gone": (1,)}),))
    fake.state.group("b", 1, state="Stable", members=(FakeMember("m", {"t": (0, 1)}),))
    return fake


def gathered(fake: FakeCluster, selection: Selection) -> Outcome[GroupFacts]:
    return ask(fake, lambda admin: gather_facts(admin.cluster, selection))


@pytest.mark.parametrize(
    ("version", "finding", "listing"),
    [("4.3.1", 6, 5), ("2.8.2", 3, 4), ("1.1.1", 1, 1)],
    ids=["new", "older", "oldest"],
)
def test_placement_names_partition_and_lookup_api(version: str, finding: int, listing: int) -> None:
    (named,) = gathered(shop(version), Selection(("a",))).items
    assert named.placement == Placement(f"FindCoordinator v{finding}", partition_of("a", 3), 3, named.placement.leader)
    assert named.placement.leader == [0, 1, 0][partition_of("a", 3)]
    listed = gathered(shop(version), Selection(everything=True)).items
    assert [facts.placement.how for facts in listed] == [f"ListGroups v{listing}"] * 2
    assert (listed[0].group.members, listed[0].topics) == (named.group.members, named.topics)


def test_explain_data_separates_existing_and_missing_topics() -> None:
    outcome = gathered(shop(), Selection(("a",)))
    (facts,) = outcome.items
    assert (facts.topics["t"].partitions, facts.missing, facts.undescribed) == (2, {"gone"}, frozenset())
    assert outcome.failures == ()


def test_explain_data_unauthorized_topic_is_a_failure_not_missing() -> None:
    fake = shop()
    fake.state.fail("Metadata", "t", ErrorCode.topic_authorization_failed)
    outcome = gathered(fake, Selection(("b",)))
    assert (outcome.items[0].topics, outcome.items[0].undescribed) == ({}, {"t"})
    assert [failure.error for failure in outcome.failures] == ["TOPIC_AUTHORIZATION_FAILED"]


def test_explain_data_without_offsets_topic_keeps_the_rest() -> None:
    fake = shop()
    del fake.state.topics["__consumer_offsets"]
    (facts,) = gathered(fake, Selection(("b",))).items
    assert facts.placement.partition is None and facts.topics["t"].partitions == 2


def test_explain_data_unauthorized_offsets_topic_is_a_notice() -> None:
    fake = shop()
    fake.state.fail("Metadata", "__consumer_offsets", ErrorCode.topic_authorization_failed)
    outcome = gathered(fake, Selection(("b",)))
    (facts,) = outcome.items
    assert (facts.placement.partition, facts.topics["t"].partitions, outcome.exit_code) == (None, 2, 0)
    needed = "DESCRIBE on TOPIC __consumer_offsets"
    assert outcome.notices == (
        f"the partition of __consumer_offsets for each group is unknown; this requires {needed}",
        OMITTED_COMMITS_NOTICE,
    )
    assert [str(acl) for acl in outcome.missing_acls()] == [needed]


def test_explain_data_other_offsets_topic_error_is_a_failure() -> None:
    fake = shop()
    fake.state.fail("Metadata", "__consumer_offsets", ErrorCode.unknown_server_error)
    assert [failure.name for failure in gathered(fake, Selection(("b",))).failures] == ["__consumer_offsets"]


def test_explain_data_of_many_groups_needs_few_requests() -> None:
    fake = shop()
    for number in range(500):
        fake.state.group(f"g{number}", number % 2, state="Stable", members=(FakeMember("m", {"t": (0,)}),))
    assert len(gathered(fake, Selection(everything=True)).items) == 502
    described = [request for request in fake.asked("DescribeGroups") if not is_probe(request)]
    assert len(fake.asked("Metadata")) <= 2 and len(described) <= 4
    assert len(fake.asked("DescribeGroups")) - len(described) == 2 * 2  # before and after the list of each broker


def modern() -> FakeCluster:
    fake = shop()
    fake.state.group("c", 0, type="Consumer", state="Stable", members=(FakeMember("m", {"t": (0,)}),))
    fake.state.settings[""] = {SESSION: "45000", HEARTBEAT: "5000"}
    fake.state.settings["c"] = {SESSION: "60000"}
    return fake


def test_timeouts_are_the_settings_in_effect_for_groups_that_are_not_classic() -> None:
    fake = modern()
    by_group = {facts.group.group: facts.timeouts for facts in gathered(fake, Selection(everything=True)).items}
    timeouts = MemberTimeouts(Effective(SESSION, "60000"), Effective(HEARTBEAT, "5000"))
    assert by_group == {"a": None, "b": None, "c": timeouts}


def test_timeouts_that_cannot_be_read_are_unknown_with_the_missing_acl() -> None:
    fake = modern()
    fake.state.fail("DescribeConfigs", "c", ErrorCode.group_authorization_failed)
    outcome = gathered(fake, Selection(("c",)))
    needs = "not authorized: needs DESCRIBE_CONFIGS on GROUP c"
    assert outcome.exit_code == 0
    assert outcome.items[0].timeouts == (Effective(SESSION, None, needs), Effective(HEARTBEAT, None, needs))
