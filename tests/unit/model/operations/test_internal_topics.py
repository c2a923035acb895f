from __future__ import annotations

import pytest

from kgroups.model.cluster import Node
from kgroups.model.groups import Group
from kgroups.model.operations.internal_topics import kept_remarks, of_inputs, plan_topic_deletions, without_others
from kgroups.model.streams import InternalTopic, Subtopology, Topology
from kgroups.model.streams_groups import internal_topics
from kgroups.model.views.topology_rows import topology_remark, topology_rows

NODE = Node(1, "h", 9092)
FOREIGN = InternalTopic("somebody-elses-changelog", 1, 1)


def group(name: str = "g", state: str = "Empty", *, ready: bool = True) -> Group:
    changelog, repartition = InternalTopic(f"{name}-c-changelog", 2, 0), InternalTopic(f"{name}-r-repartition", 2, 3)
    first = Subtopology("0", ("in", f"{name}-r-repartition"), (), (repartition.name,), (FOREIGN,))
    second = Subtopology("1", (), (repartition,), (), (changelog,))
    return Group(name, "Streams", state, "streams", "", NODE, topology=Topology(5, (first, second) if ready else None))


def test_internal_topics_need_the_group_name_as_prefix() -> None:
    assert internal_topics(group()) == ["g-c-changelog", "g-r-repartition"]
    assert internal_topics(group()._replace(group="h")) == []
    assert internal_topics(Group("g", "Classic", "Empty", "consumer", "", NODE)) == []


def test_internal_topics_are_deleted_only_of_empty_groups() -> None:
    deletions = plan_topic_deletions([group("b"), group("a"), group("busy", "Stable")])
    assert [(each.group.group, each.topic) for each in deletions.items] == [
        ("a", "a-c-changelog"),
        ("a", "a-r-repartition"),
        ("b", "b-c-changelog"),
        ("b", "b-r-repartition"),
    ]


def test_internal_topics_that_may_belong_to_another_group_are_kept() -> None:
    foreign = InternalTopic("g-eu-store-changelog", 1, 1)
    claims = Topology(5, (Subtopology("0", ("in",), (), (), (foreign, InternalTopic("g-c-changelog", 2, 0))),))
    deletions = plan_topic_deletions([group()._replace(topology=claims)])
    kept = without_others(deletions, ["g", "g-eu", "g-eu-s", "g-e", "other"])
    assert [each.topic for each in kept.items] == ["g-c-changelog"]
    assert [(failure.name, failure.message) for failure in kept.failures] == [
        (foreign.name, "not deleted: its name also matches group 'g-eu', not only 'g'")
    ]
    assert without_others(deletions, ["g", "other"]) == deletions


def test_internal_topics_by_name_reject_other_topics() -> None:
    deletions = plan_topic_deletions([group()], ["g-c-changelog", "in", FOREIGN.name])
    assert [each.topic for each in deletions.items] == ["g-c-changelog"]
    assert [failure.name for failure in deletions.failures] == ["in", FOREIGN.name]


def test_internal_topics_of_unreported_topology_are_a_failure() -> None:
    deletions = plan_topic_deletions([group(ready=False), group("h")._replace(topology=None), group("i")])
    assert {each.group.group for each in deletions.items} == {"i"}
    assert [failure.name for failure in deletions.failures] == ["g", "h"]


def test_internal_topics_without_topology_are_known_by_name() -> None:
    kept = of_inputs([("g", "g-r-repartition", 0), ("g", "in", 0)], [group()._replace(topology=None)], None)
    assert kept.items == (("g", "in", 0),)


def test_internal_topics_left_behind_are_noted() -> None:
    plain = Group("p", "Classic", "Empty", "consumer", "", NODE)
    (remark,) = kept_remarks([group(), plain])
    assert remark.startswith("internal topics of group 'g' are kept: g-c-changelog, g-r-repartition;")


@pytest.mark.parametrize("ready", [True, False])
def test_reset_includes_only_input_topics(ready: bool) -> None:
    keys = [("g", "g-r-repartition", 0), ("g", "in", 0), ("other", "g-r-repartition", 0)]
    kept = of_inputs(keys, [group(ready=ready)], None)
    assert (kept.items, kept.failures) == (tuple(keys[1:]), ())
    named = of_inputs(keys, [group(ready=ready)], {"in", "g-r-repartition"})
    assert (named.items, [failure.name for failure in named.failures]) == (tuple(keys[1:]), ["g-r-repartition"])


def test_topology_rows_have_role_and_partitions() -> None:
    rows = list(topology_rows(group()))
    assert [(row.subtopology, row.role, row.topic, row.partitions, row.replication) for row in rows] == [
        ("0", "source", "in", None, None),
        ("0", "source", "g-r-repartition", None, None),
        ("0", "changelog", FOREIGN.name, 1, 1),
        ("0", "repartition sink", "g-r-repartition", None, None),
        ("1", "repartition source", "g-r-repartition", 2, 3),
        ("1", "changelog", "g-c-changelog", 2, None),
    ]
    assert {row.tasks for row in rows} == {0}


def test_topology_remark_explains_a_missing_topology() -> None:
    assert topology_remark(group()) is None
    assert "is not ready" in str(topology_remark(group(ready=False)))
    assert "not a streams group" in str(topology_remark(Group("g", "Classic", "Empty", "consumer", "", NODE)))


def test_topology_role_of_each_topic() -> None:
    topology = group().topology
    assert topology
    roles = {topic: topology.role(topic) for topic in ("in", "g-r-repartition", "g-c-changelog", "nothing")}
    assert roles == {
        "in": "source",
        "g-r-repartition": "repartition source",
        "g-c-changelog": "changelog",
        "nothing": None,
    }
