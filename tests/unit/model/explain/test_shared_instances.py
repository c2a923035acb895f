from __future__ import annotations

from kgroups.model.assignment import Assignment
from kgroups.model.cluster import Node
from kgroups.model.explain import explain
from kgroups.model.explain.facts import GroupFacts, Placement
from kgroups.model.explain.findings import Severity
from kgroups.model.groups import Group, Member
from kgroups.model.stays import Instances, SharedInstance


def test_instance_id_of_two_clients_is_a_problem_and_explain_does_not_reassure() -> None:
    member = Member("pod-0-1", "podA", "/10.0.0.1", Assignment(), instance_id="pod-0")
    group = Group("g", "Classic", "Stable", "consumer", "range", Node(1, "h", 1), (member,))
    facts = GroupFacts(group, Placement("ListGroups v5"), {})
    assert "gets its partitions back" in {each.rule: each.text for each in explain(facts)}["static-members"]
    unread = facts._replace(instances=Instances((), "missing permission READ on topic __consumer_offsets"))
    text = {each.rule: each.text for each in explain(unread)}["static-members"]
    assert text.endswith(
        "without a rebalance, unless another client uses its ID, which is unknown: missing permission READ on topic "
        "__consumer_offsets"
    )
    for clients in (("podA@10.0.0.1", "podB@10.0.0.2"), ("podA@10.0.0.1",)):
        shared = facts._replace(instances=Instances((SharedInstance("pod-0", clients, 15, 1_000),)))
        found = {each.rule: each for each in explain(shared)}
        assert "static-members" not in found
        assert found["shared-instance-id"].severity is Severity.PROBLEM
        assert "group.instance.id pod-0" in found["shared-instance-id"].text
        assert all(client in found["shared-instance-id"].text for client in clients)
