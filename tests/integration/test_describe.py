"""``kgroups describe`` against real brokers: every way to select, every view, every kind of group."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kgroups.render.member_views import MEMBERS, STATE
from kgroups.render.offset_view import OFFSETS
from kgroups.render.views import Tier
from kgroups.sandbox.seed_data import (
    DELETED_TOPIC,
    LOG_STARTS,
    OPAQUE_ASSIGNMENT,
    OPAQUE_METADATA,
    OPEN_TRANSACTION,
    RECORDS,
    STRANGE_NAME,
)
from tests.integration.asking import Answer, Row, visible, without_markdown
from tests.integration.known_cluster import KnownCluster, promised_offsets
from tests.integration.transient_groups import COMPLETING, IDLE, MIXED, OWNED, REGEX, TransientGroups

DELETED = "billing-deleted-topic"
WHOLE = ("orders-range", "ahead")
"""Two groups with nothing wrong."""


def groups_of(answer: Answer) -> list[str]:
    """The groups of the answer, each once, in its order."""
    return list(dict.fromkeys(row["group"] for row in answer.items))


def pairs(assignment: Iterable[Row]) -> set[tuple[str, int]]:
    return {(entry["topic"], partition) for entry in assignment for partition in entry["partitions"]}


# Which groups.


@pytest.mark.parametrize(
    "words",
    [
        ("orders-range", "ahead"),
        ("ahead", "orders-range", "ahead"),
        ("--group", "orders-range", "--group", "ahead"),
        ("ahead", "--group", "orders-range"),
        ("--regex", "orders-range|ah.*"),
        ("ahead", "--regex", "orders-r[an]+ge"),
    ],
    ids=" ".join,
)
def test_describe_selects_by_name_and_regex(known_cluster: KnownCluster, words: tuple[str, ...]) -> None:
    answer = known_cluster.ask("describe", *words, "-o", "json")
    assert (answer.code, answer.failures) == (0, [])
    assert groups_of(answer) == sorted(WHOLE)


def test_describe_regex_matches_whole_names(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--regex", "orders", "-o", "json")
    assert (answer.code, answer.items) == (0, [])
    assert answer.err == (
        "kgroups: note: no group matches --regex 'orders': the whole name must match; try --regex 'orders.*'\n"
    )


def test_describe_all_groups_includes_every_listed_group(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--all-groups", "--state", "-o", "json")
    listed = [row["group"] for row in known_cluster.ask("list", "-o", "json").items]
    assert (answer.code, answer.err, groups_of(answer)) == (0, "", listed)
    assert set(listed) >= set(known_cluster.groups)


def test_describe_all_groups_sends_no_lookup_and_named_groups_no_list(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--all-groups", "--state", "--debug")
    assert not answer.sent("FindCoordinator")
    assert len(answer.sent("ListGroups")) == len(known_cluster.sandbox.brokers)
    answer = known_cluster.ask("describe", *WHOLE, "--state", "--debug")
    assert not answer.sent("ListGroups")
    assert len(answer.sent("FindCoordinator")) == (1 if known_cluster.since("3.0") else len(WHOLE))


@pytest.mark.parametrize("topic", ["clicks", "payments", "ledger"])
def test_describe_topic_selects_by_commits_and_assignments(known_cluster: KnownCluster, topic: str) -> None:
    """Groups without members are found by their commits; only rows of the topic are shown."""
    answer = known_cluster.ask("describe", "--topic", topic, "-o", "json")
    wanted = {
        (name, partition): pair
        for name, group in known_cluster.groups.items()
        for (where, partition), pair in promised_offsets(group).items()
        if where == topic
    }
    found = {
        (row["group"], row["partition"]): (row["current_offset"], row["log_end_offset"])
        for row in answer.items
        if row["group"] in known_cluster.groups
    }
    assert (answer.code, found) == (0, wanted)
    assert {row["topic"] for row in answer.items} == {topic}


def test_describe_topic_selects_groups_in_other_views(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--topic", "ledger,clicks", "--state", "-o", "json")
    wanted = {"ledger-reader", "ahead", "data-lost", STRANGE_NAME}
    assert {name for name in groups_of(answer) if name in known_cluster.groups} == wanted
    answer = known_cluster.ask("describe", "--topic", "ledger", "--members", "-o", "json")
    assert [row["group"] for row in answer.items] == ["ledger-reader"]


def test_describe_topic_and_regex_are_combined(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--regex", ".*-empty|.*-lagging|ahead", "--topic", "payments", "-o", "json")
    assert groups_of(answer) == ["payments-empty", "payments-lagging"]


def test_describe_deleted_topic_is_found_by_assignments(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--topic", DELETED_TOPIC, "-o", "json")
    assert answer.code == 1, answer.err
    assert [(row["group"], row["topic"], row["partition"], row["lag"]) for row in answer.items] == [
        (DELETED, DELETED_TOPIC, 0, None),
        (DELETED, DELETED_TOPIC, 1, None),
    ]


def test_describe_missing_group_keeps_the_good_one(known_cluster: KnownCluster) -> None:
    for view in ("--offsets", "--members", "--state"):
        answer = known_cluster.ask("describe", "orders-range", "nobody-knows-it", view, "-o", "json")
        assert answer.code == 1, answer.err
        assert groups_of(answer) == ["orders-range"]
        assert [(failure["scope"], failure["name"], failure["error"]) for failure in answer.failures] == [
            ("group", "nobody-knows-it", "GROUP_ID_NOT_FOUND")
        ]
        assert answer.err == "kgroups: group 'nobody-knows-it': the group does not exist [GROUP_ID_NOT_FOUND]\n"


def test_describe_escapes_strange_name_in_text_and_keeps_it_in_json(known_cluster: KnownCluster) -> None:
    assert known_cluster.ask("describe", STRANGE_NAME, "-o", "json").items[0]["group"] == STRANGE_NAME
    for output in ("plain", "table", "csv", "github"):
        answer = known_cluster.ask("describe", STRANGE_NAME, "-o", output)
        assert visible(STRANGE_NAME) in (without_markdown(answer.out) if output == "github" else answer.out)
        assert not set(answer.out + answer.err) & {"\x1b", "\t"}
    answer = known_cluster.ask("describe", STRANGE_NAME + "?")
    assert answer.code == 1, answer.err
    assert f"group '{visible(STRANGE_NAME)}?'" in answer.err


# Offsets.


def test_describe_offsets_and_lag_match_the_seeded_groups(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--all-groups", "-o", "json")
    for name, group in known_cluster.groups.items():
        rows = [row for row in answer.items if row["group"] == name and row["topic"]]
        assert {
            (row["topic"], row["partition"]): (row["current_offset"], row["log_end_offset"]) for row in rows
        } == promised_offsets(group)
        assert [(row["topic"], row["partition"]) for row in rows] == sorted(promised_offsets(group))
        for row in rows:
            known = None not in (row["current_offset"], row["log_end_offset"])
            assert row["lag"] == (row["log_end_offset"] - row["current_offset"] if known else None)
            assert (row["consumer_id"] is not None) == ((row["topic"], row["partition"]) in group.assigned)
            if row["topic"] != DELETED_TOPIC:
                assert row["log_start_offset"] == LOG_STARTS.get(row["topic"], {}).get(row["partition"], 0)
    # The one thing wrong in this known_cluster.
    assert answer.code == 1, answer.err
    assert [(failure["scope"], failure["name"], failure["error"]) for failure in answer.failures] == [
        ("topic", DELETED_TOPIC, "UNKNOWN_TOPIC_OR_PARTITION")
    ]


def test_describe_offsets_rows_name_their_members(known_cluster: KnownCluster) -> None:
    """The members view and the offsets view have the same assignments."""
    names = [name for name, group in known_cluster.groups.items() if group.members and name != DELETED]
    members = known_cluster.ask("describe", *names, "--members", "-o", "json").items
    offsets = known_cluster.ask("describe", *names, "-o", "json").items
    held = {
        (row["group"], pair, row["consumer_id"], row["host"], row["client_id"], row["group_instance_id"])
        for row in members
        if isinstance(row["current_assignment"], list)
        for pair in pairs(row["current_assignment"])
    }
    shown = {
        (
            row["group"],
            (row["topic"], row["partition"]),
            row["consumer_id"],
            row["host"],
            row["client_id"],
            row["group_instance_id"],
        )
        for row in offsets
        if row["topic"]
    }
    assert shown == held


def test_describe_notes_abnormal_commits(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "ahead", "data-lost", "payments-empty", "-o", "plain")
    notes = {(row["GROUP"], row["PARTITION"]): (row["LAG"], row["NOTE"]) for row in answer.table}
    assert notes == {
        ("ahead", "0"): ("-50", "committed beyond the end of the log"),
        ("data-lost", "0"): ("90", "data lost: 30 offsets deleted before they were read"),
        ("payments-empty", "0"): ("0", "-"),
        ("payments-empty", "1"): ("10", "-"),
        ("payments-empty", "2"): ("20", "-"),
    }
    assert answer.code == 0, answer.err
    # Where there is nothing to note, there is no column.
    assert "NOTE" not in known_cluster.ask("describe", "payments-empty", "-o", "plain").out


def test_describe_uncommitted_partitions_have_no_lag(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "payments-uncommitted", "-o", "plain")
    assert [(row["PARTITION"], row["CURRENT-OFFSET"], row["LOG-END-OFFSET"], row["LAG"]) for row in answer.table] == [
        ("0", "30", "60", "30"),
        ("1", "-", "70", "-"),
        ("2", "-", "80", "-"),
    ]
    assert answer.code == 0, answer.err


def test_describe_deleted_topic_is_a_failure_with_rows(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", DELETED, "-o", "json")
    lost = [row for row in answer.items if row["topic"] == DELETED_TOPIC]
    assert [(row["partition"], row["current_offset"], row["log_end_offset"], row["lag"]) for row in lost] == [
        (0, None, None, None),
        (1, None, None, None),
    ]
    assert {row["note"] for row in lost} == {"the topic or partition does not exist (deleted?)"}
    assert [(row["partition"], row["lag"]) for row in answer.items if row["topic"] == "payments"] == [
        (0, 0),
        (1, 10),
        (2, 20),
    ]
    assert answer.code == 1, answer.err
    assert answer.err.startswith(
        f"kgroups: topic '{DELETED_TOPIC}': the topic or partition does not exist (deleted?) ["
    )
    assert [line.partition(": ")[2].partition(":")[0] for line in answer.err.splitlines()] == [
        f"topic '{DELETED_TOPIC}'",
        "hint",
    ]
    assert known_cluster.ask("describe", DELETED, "--members").code == 0  # it asks for no log


def test_describe_isolation_moves_the_end_of_an_open_transaction(known_cluster: KnownCluster) -> None:
    def end(*words: str) -> tuple[int, int]:
        (row,) = known_cluster.ask("describe", "ledger-reader", *words, "-o", "json").items
        return row["log_end_offset"], row["lag"]

    committed, opened = RECORDS["ledger"][0], OPEN_TRANSACTION["ledger"][0]
    assert end() == end("--isolation", "read_uncommitted") == (committed + opened, opened)
    assert end("--isolation", "read_committed") == (committed, 0)


def test_describe_verbose_shows_leader_epochs(known_cluster: KnownCluster) -> None:
    """Java's consumer commits them, since Kafka 2.1 (KIP-320)."""
    answer = known_cluster.ask("describe", "orders-sticky", "--verbose", "-o", "plain")
    assert {row["LEADER-EPOCH"] for row in answer.table} == {"0" if known_cluster.since("2.1") else "-"}
    assert "LEADER-EPOCH" not in known_cluster.ask("describe", "orders-sticky").out


def test_describe_wide_shows_all_columns(known_cluster: KnownCluster) -> None:
    """All that any consumer group may have, and whatever has a value."""
    for view, shown in ((OFFSETS, "log_start_offset"), (MEMBERS, "rack"), (STATE, "protocol_type")):
        answer = known_cluster.ask("describe", "orders-range", f"--{view.name}", "-w", "-o", "plain")
        rows = known_cluster.ask("describe", "orders-range", f"--{view.name}", "-o", "json").items
        assert list(rows[0]) == [column.key for column in view.columns]
        with_value = {key for row in rows for key, value in row.items() if value is not None}
        wanted = [column for column in view.columns if column.tier <= Tier.WIDE or column.key in with_value]
        assert list(answer.table[0]) == [column.header for column in wanted]
        assert shown in [column.key for column in wanted]


def test_describe_columns_and_sort_shape_the_csv(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask(
        "describe", "--topic", "payments", "--columns", "lag,group,partition", "--sort", "-lag", "-o", "csv"
    )
    rows = answer.csv
    assert list(rows[0]) == ["lag", "group", "partition"]
    lags = [int(row["lag"]) for row in rows if row["lag"]]
    assert lags == sorted(lags, reverse=True)
    assert lags[0] == 50
    assert not any(row["lag"] for row in rows[len(lags) :])


def test_describe_formats_have_the_same_values(known_cluster: KnownCluster) -> None:
    rows = known_cluster.ask("describe", *WHOLE, "-o", "json").items
    lines = known_cluster.ask("describe", *WHOLE, "-o", "jsonl").lines
    assert [Answer(0, line, "", 0).envelope for line in lines] == rows
    in_csv = known_cluster.ask("describe", *WHOLE, "-o", "csv").csv
    assert in_csv == [{key: "" if value is None else str(value) for key, value in row.items()} for row in rows]
    table = known_cluster.ask("describe", *WHOLE).table
    assert [(row["GROUP"], row["PARTITION"], row["LAG"]) for row in table] == [
        (row["group"], str(row["partition"]), str(row["lag"])) for row in rows
    ]


# Members.


def test_describe_members_match_the_seeded_groups(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--all-groups", "--members", "-o", "json")
    assert (answer.code, answer.err) == (0, "")
    for name, group in known_cluster.groups.items():
        rows = [row for row in answer.items if row["group"] == name]
        assert len(rows) == group.members
        assert [row["consumer_id"] for row in rows] == sorted({row["consumer_id"] for row in rows})
        assert sorted(row["group_instance_id"] for row in rows if row["group_instance_id"]) == group.instances
        assert {row["host"] for row in rows} <= {"/127.0.0.1"}
        if group.topics:
            held = [pair for row in rows for pair in pairs(row["current_assignment"])]
            assert (len(held), set(held)) == (len(group.assigned), group.assigned)
            assert [row["partitions"] for row in rows] == [len(pairs(row["current_assignment"])) for row in rows]
            assert [row["subscription"]["topics"] for row in rows] == [list(group.topics)] * group.members


def test_describe_members_in_text(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "orders-roundrobin", "--members", "--verbose", "-o", "plain")
    assert {row["CURRENT-ASSIGNMENT"] for row in answer.table} == {
        "orders:0,2,4;payments:0,2",
        "orders:1,3,5;payments:1",
    }
    assert {row["SUBSCRIPTION"] for row in answer.table} == {"orders,payments"}
    brief = known_cluster.ask("describe", "orders-roundrobin", "--members", "-o", "plain")
    assert list(brief.table[0]) == ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    assert {row["#PARTITIONS"] for row in brief.table} == {"5", "4"}


def test_describe_static_members_have_instance_ids(known_cluster: KnownCluster) -> None:
    if not known_cluster.sandbox.version.static_members:
        pytest.skip("no static members before Kafka 2.3 (KIP-345)")
    answer = known_cluster.ask("describe", "orders-static", "--members", "-o", "plain")
    assert {row["GROUP-INSTANCE-ID"] for row in answer.table} == set(known_cluster.groups["orders-static"].instances)
    assert "GROUP-INSTANCE-ID" not in known_cluster.ask("describe", "orders-range", "--members").out


def test_describe_consumer_protocol_group_has_epochs_and_targets(known_cluster: KnownCluster) -> None:
    if "orders-kip848" not in known_cluster.groups:
        pytest.skip("no KIP-848 groups")
    rows = known_cluster.ask("describe", "orders-kip848", "--members", "-o", "json").items
    for row in rows:
        assert row["current_epoch"] == row["target_epoch"] > 0
        assert row["target_assignment"] == row["current_assignment"] == row["owned_partitions"]
    (state,) = known_cluster.ask("describe", "orders-kip848", "--state", "-o", "json").items
    assert (state["type"], state["assignment_strategy"]) == ("Consumer", "uniform")
    assert state["group_epoch"] == state["target_assignment_epoch"] == rows[0]["current_epoch"]
    (classic,) = known_cluster.ask("describe", "orders-range", "--state", "-o", "json").items
    assert (classic["type"], classic["group_epoch"], classic["target_assignment_epoch"]) == ("Classic", None, None)


def test_describe_other_protocol_types_are_raw(known_cluster: KnownCluster) -> None:
    (row,) = known_cluster.ask("describe", "connect-like", "--members", "-o", "json").items
    assert row["current_assignment"] == {
        "raw_bytes": len(OPAQUE_ASSIGNMENT),
        "hex": OPAQUE_ASSIGNMENT.hex(),
        "reason": "undecodable ConnectProtocol assignment (version -13570)",
    }
    assert row["subscription"]["hex"] == OPAQUE_METADATA.hex()
    assert row["partitions"] is None
    (state,) = known_cluster.ask("describe", "connect-like", "--state", "-o", "json").items
    assert (state["protocol_type"], state["assignment_strategy"], state["members"]) == ("connect", "opaque", 1)
    (offsets,) = known_cluster.ask("describe", "connect-like", "-o", "json").items
    assert (offsets["topic"], offsets["consumer_id"]) == (None, row["consumer_id"])


def test_describe_cooperative_members_have_owned_partitions(
    known_cluster: KnownCluster, transient_groups: TransientGroups
) -> None:
    """The older member reported its partitions in the last rebalance; the new one had none."""
    answer = known_cluster.ask("describe", OWNED, "--members", "-o", "json").items
    (kept,) = [row for row in answer if row["owned_partitions"]]
    (new,) = [row for row in answer if not row["owned_partitions"]]
    assert pairs(kept["owned_partitions"]) == pairs(kept["current_assignment"])
    assert pairs(kept["current_assignment"]) | pairs(new["current_assignment"]) == {("orders", at) for at in range(6)}


def test_describe_idle_member_has_no_partitions(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    answer = known_cluster.ask("describe", IDLE, "--members", "-o", "json").items
    assert sorted((row["partitions"], len(row["current_assignment"])) for row in answer) == [(0, 0), (1, 1)]
    first, idle = known_cluster.ask("describe", IDLE, "-o", "json").items
    assert (first["topic"], first["current_offset"], first["lag"]) == ("clicks", 50, 50)
    assert (idle["topic"], idle["lag"], idle["host"]) == (None, None, "/127.0.0.1")


def test_describe_rebalancing_group_is_noted(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    answer = known_cluster.ask("describe", COMPLETING, "--state", "-o", "json")
    assert [(row["state"], row["assignment_strategy"], row["members"]) for row in answer.items] == [
        ("CompletingRebalance", None, 1)
    ]
    answer = known_cluster.ask("describe", COMPLETING, "--members", "-v", "-o", "json")
    assert [(row["partitions"], row["current_assignment"]) for row in answer.items] == [(0, [])]
    assert answer.err == f"kgroups: note: group '{COMPLETING}' is rebalancing\n"
    assert answer.code == 0, answer.err


def test_describe_group_of_both_protocols_shows_upgraded(
    known_cluster: KnownCluster, transient_groups: TransientGroups
) -> None:
    if MIXED not in transient_groups.groups:
        pytest.skip("no KIP-848 group that librdkafka can join")
    answer = known_cluster.ask("describe", MIXED, "--members", "--verbose", "-o", "plain")
    assert {row["UPGRADED"] for row in answer.table} == {"true", "false"}
    assert {row["TARGET-ASSIGNMENT"] for row in answer.table} == {"orders:0,1,2", "orders:3,4,5"}
    # All upgraded: no column, unless all are wanted.
    assert "UPGRADED" not in known_cluster.ask("describe", "orders-kip848", "--members", "--verbose").out
    assert "UPGRADED" in known_cluster.ask("describe", "orders-kip848", "--members", "--wide").out


def test_describe_regex_subscription_is_shown(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    if REGEX not in transient_groups.groups:
        pytest.skip("no KIP-848 group that librdkafka can join")
    (row,) = known_cluster.ask("describe", REGEX, "--members", "-o", "json").items
    assert "^pay.*s$" in row["subscription"]["regex"]
    assert pairs(row["current_assignment"]) == {("payments", partition) for partition in range(3)}


# State.


def test_describe_states_match_the_seeded_groups(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "--all-groups", "--state", "-o", "json")
    listed = {row["group"]: row for row in known_cluster.ask("list", "-o", "json").items}
    assert (answer.code, answer.err) == (0, "")
    for row in answer.items:
        assert row["coordinator"] == listed[row["group"]]["coordinator"]
        if group := known_cluster.groups.get(row["group"]):
            assert (row["state"], row["members"], row["protocol_type"]) == (
                group.state,
                group.members,
                group.protocol_type,
            )
            assert (row["type"], row["assignment_strategy"]) == (group.type, group.protocol or None)


def test_describe_state_in_text(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("describe", "orders-range", "payments-empty", "--state", "-o", "plain")
    assert list(answer.table[0]) == ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"]
    assert [(row["ASSIGNMENT-STRATEGY"], row["STATE"], row["#MEMBERS"]) for row in answer.table] == [
        ("range", "Stable", "3"),
        ("-", "Empty", "0"),
    ]
    verbose = known_cluster.ask("describe", "orders-range", "--state", "-v", "-o", "plain").table
    assert (verbose[0]["GROUP-EPOCH"], verbose[0]["TARGET-ASSIGNMENT-EPOCH"]) == ("-", "-")


def test_describe_empty_group_is_noted(known_cluster: KnownCluster) -> None:
    for view in ("--offsets", "--members"):
        answer = known_cluster.ask("describe", "payments-empty", "orders-range", view)
        assert (answer.code, answer.err) == (0, "kgroups: note: group 'payments-empty' has no active members\n")
