from __future__ import annotations

from tests.fakes.history import History, at
from tests.unit.history.transform.conftest import Show


def scene(history: History) -> None:
    history.commit("a-back", 10, 100, committed=11)
    history.commit("a-back", 12, 150, committed=10)  # forward, though its clock went back
    history.commit("a-back", 20, 90)
    history.commit("a-back", 21, None)
    history.commit("a-back", 22, 5)

    for second in (60, 120, 180):
        history.head(second, 40 + second // 60, start=second // 6, topic="short")
    history.commit("a-beyond", 50, 99, topic="short")
    history.commit("a-beyond", 150, 43, topic="short")
    history.commit("a-lost", 50, 15, topic="short")

    for generation, second in enumerate((60, 80, 100, 120, 140, 160, 200, 560, 590), 1):
        history.snapshot("a-storm", second, generation, ["x"])

    # A static member that comes and goes; one that restarts at once; and four of one name that only started together.
    for generation, (second, members) in enumerate(
        ((200, ["x", "f1=i"]), (220, ["x"]), (240, ["x", "f2=i"]), (260, ["x"]), (310, ["x", "f3=i"])), 1
    ):
        history.snapshot("a-flaps", second, generation, members, client="x")
    for generation, second in enumerate((300, 330, 360, 390), 1):
        history.snapshot("a-bounces", second, generation, [f"w{generation}"], client="web")
    for generation, second in enumerate((300, 330, 360), 1):  # a store without the hosts of clients
        history.snapshot("a-private", second, generation, [f"w{generation}"], client="web", host=None)
    history.snapshot("a-starts", 300, 1, ["a", "b", "c", "d"])


def test_anomalies_report_rewinds(show: Show) -> None:
    columns = ("since", "partition", "expected", "found", "note")
    assert show("anomalies", *columns, group="a-back") == [(at(20), 0, 150, 90, "went back by 60")]


def test_anomalies_report_commits_outside_their_log(show: Show) -> None:
    columns = ("since", "until", "expected", "found", "note")
    assert show("anomalies", *columns, group="a-beyond", anomaly="beyond_end") == [
        (at(60), at(120), 42, 99, "committed beyond the end of the log"),
    ]
    assert show("anomalies", *columns, group="a-lost") == [
        (at(120), at(180), 30, 15, "data lost: 15 offsets deleted before they were read"),
    ]


def test_anomalies_report_rebalance_storms(show: Show) -> None:
    columns = ("anomaly", "since", "until", "expected", "found", "note")
    assert show("anomalies", *columns, group="a-storm") == [
        ("rebalance_storm", at(120), at(200), 4, 4, "4 rebalances within 120 s, without a change of members"),
    ]


def test_anomalies_report_flapping_members(show: Show) -> None:
    columns = ("group", "member", "since", "until", "expected", "found")
    found = [row for row in show("anomalies", *columns, anomaly="flapping_member") if row[0].startswith("a-")]
    assert found == [
        ("a-bounces", "web@/10.0.0.1", at(300), at(390), 3, 4),
        ("a-flaps", "i", at(200), at(310), 3, 3),
        ("a-private", "web", at(300), at(360), 3, 3),
    ]
