"""Output for principals with few ACLs on real authorizers, compared with Kafka's own tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups import Cluster
from kgroups.sandbox.security import Acl, Secure
from kgroups.sandbox.security.listeners import SESSION
from tests.integration.asking import Answer, run_here
from tests.integration.auth_methods import GROUPS, JavaLists
from tests.integration.java_output import JavaTool

FIRST, SECOND, THIRD = GROUPS.names()
TOPIC = GROUPS.topic
ONE_GROUP = (Acl("ann", "describe", "group", FIRST), Acl("ann", "describe", "topic", TOPIC))
ALL_GROUPS = (Acl("bob", "describe", "cluster"), Acl("bob", "describe", "group", "*"))


@pytest.fixture(scope="module")
def restricted_users(secure: Secure) -> Iterator[Secure]:
    """ann may see one group and its topic; bob the cluster and all groups, and no topic."""
    secure.allow(*ONE_GROUP, *ALL_GROUPS)
    yield secure
    for user in ("ann", "bob"):
        secure.forget(user)


def ask(secure: Secure, user: str, *words: str) -> Answer:
    return run_here(*words, "--command-config", str(secure.user_file(user)))


def missing(answer: Answer) -> list[tuple[str, str, str | None]]:
    acls: list[dict[str, Any]] = answer.envelope["missing_acls"]
    return [(acl["operation"], acl["resource"], acl["name"]) for acl in acls]


@pytest.mark.parametrize("transport", ["wire", "librdkafka"])
def test_list_without_describe_on_cluster_is_noted_as_partial(restricted_users: Secure, transport: str) -> None:
    answer = ask(restricted_users, "ann", "list", "-o", "json", "--transport", transport)
    assert (answer.code, [row["group"] for row in answer.items]) == (0, [FIRST])
    assert missing(answer) == [("DESCRIBE", "CLUSTER", "kafka-cluster")]
    assert "the list may be partial: without DESCRIBE on CLUSTER" in answer.err


@pytest.mark.parametrize("transport", ["wire", "librdkafka"])
def test_list_with_describe_on_cluster_is_complete(restricted_users: Secure, transport: str) -> None:
    answer = ask(restricted_users, "bob", "list", "-o", "json", "--transport", transport)
    assert [row["group"] for row in answer.items] == GROUPS.names()
    assert not missing(answer) and "partial" not in answer.err


@pytest.mark.parametrize("user", ["ann", "bob"])
def test_list_matches_java_for_each_principal(restricted_users: Secure, java_lists: JavaLists, user: str) -> None:
    tool: JavaTool = java_lists.tool
    output = tool.ask(
        restricted_users.bootstrap("SASL_PLAINTEXT"),
        "--list",
        "--command-config",
        str(restricted_users.user_file(user)),
    )
    assert sorted(output.names) == sorted(ask(restricted_users, user, "list").lines)


@pytest.mark.parametrize("view", ["--offsets", "--members", "--state"])
def test_unauthorized_group_is_a_row_and_others_are_shown(restricted_users: Secure, view: str) -> None:
    answer = ask(restricted_users, "ann", "describe", FIRST, SECOND, view, "-o", "json")
    note = f"not authorized: needs DESCRIBE on GROUP {SECOND}"
    assert answer.code == 1
    assert [row["note"] for row in answer.items if row["group"] == SECOND] == [note]
    assert [failure["message"] for failure in answer.failures] == [note]
    assert missing(answer) == [("DESCRIBE", "GROUP", SECOND)]
    if view != "--members":  # it has none
        assert {row["group"] for row in answer.items} == {FIRST, SECOND}


def test_lag_of_unauthorized_group_is_a_row(restricted_users: Secure) -> None:
    answer = ask(restricted_users, "ann", "lag", FIRST, SECOND, "-o", "json")
    seen, refused = answer.items
    assert (seen["group"], seen["partitions"]) == (FIRST, GROUPS.partitions)
    assert (refused["group"], refused["partitions"], refused["note"][:14]) == (SECOND, None, "not authorized")


def test_explain_without_describe_on_the_offsets_topic_is_noted(restricted_users: Secure) -> None:
    answer = ask(restricted_users, "ann", "explain", FIRST, "-o", "json")
    (item,) = answer.items
    assert (answer.code, item["group"], item["placement"]["partition"]) == (0, FIRST, None)
    assert missing(answer) == [("DESCRIBE", "TOPIC", "__consumer_offsets")]
    assert "kgroups: note: the partition of __consumer_offsets for each group is unknown" in answer.err


def test_commits_hidden_by_acls_are_noted(restricted_users: Secure) -> None:
    answer = ask(restricted_users, "ann", "describe", FIRST)
    assert len(answer.lines) == 1 + GROUPS.partitions
    assert "commits on topics on which DESCRIBE is missing are not shown" in answer.err


@pytest.mark.parametrize(
    ("words", "needs"),
    [
        (("reset-offsets", FIRST, "--all-topics", "--to-earliest"), f"READ on GROUP {FIRST}"),
        (("delete-offsets", FIRST, "--topic", TOPIC), f"DELETE on GROUP {FIRST}"),
        (("delete", FIRST, "--including-hidden-offsets"), f"DELETE on GROUP {FIRST}"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_operations_name_the_missing_acl_and_change_nothing(
    restricted_users: Secure, words: tuple[str, ...], needs: str, tmp_path: Path
) -> None:
    undo = ("--undo-file", str(tmp_path / "undo.json"))
    answer = ask(restricted_users, "ann", *words, "--execute", "--yes", *undo, "-o", "json")
    assert answer.code == 1
    assert {failure["message"].partition("needs ")[2] for failure in answer.failures} == {needs}
    assert {row["result"] for row in answer.items} == {"failed"}
    assert ask(restricted_users, "ann", "list").lines == [FIRST]

    topics = set() if words[0] == "delete" else {("READ", "TOPIC", TOPIC)}
    planned = ask(restricted_users, "ann", *words, "-o", "json")
    operation, _, _, group = needs.split()
    assert planned.code == 0 and planned.items and set(missing(planned)) >= {(operation, "GROUP", group), *topics}
    assert f"brokers will reject the change: not authorized: needs {needs}" in planned.err


def test_remove_members_needs_describe(restricted_users: Secure) -> None:
    answer = ask(restricted_users, "ann", "remove-members", SECOND, "--all-members", "-o", "json")
    assert answer.code == 1
    assert [failure["message"] for failure in answer.failures] == [f"not authorized: needs DESCRIBE on GROUP {SECOND}"]


def test_time_lag_needs_read_on_the_topic(restricted_users: Secure, tmp_path: Path) -> None:
    group, everything = "unread-reader", restricted_users.sandbox.bootstrap
    producer = Producer({"bootstrap.servers": everything})
    producer.produce(TOPIC, b"unread", partition=0)
    assert producer.flush(20) == 0
    words = ("--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))
    assert (
        run_here(
            "reset-offsets",
            group,
            "--topic",
            f"{TOPIC}:0",
            "--to-earliest",
            "--create-group",
            *words,
            bootstrap=everything,
        ).code
        == 0
    )
    restricted_users.allow(Acl("ann", "describe", "group", group))
    answer = ask(restricted_users, "ann", "lag", group, "--time", "--by", "partition", "-o", "json")
    assert [(row["lag"], row["time_lag_ms"], row["note"]) for row in answer.items if row["lag"]] == [
        (1, None, f"not authorized: needs READ on TOPIC {TOPIC}")
    ]
    (tmp_path / "undo.json").unlink()
    assert run_here("delete", group, *words, bootstrap=everything).code == 0


def test_delete_with_offsets_hidden_by_acls_is_refused(restricted_users: Secure, tmp_path: Path) -> None:
    """bob may DELETE the group, and DESCRIBE one of the two topics that it has committed on."""
    group, other, everything = "half-hidden", "payroll", restricted_users.sandbox.bootstrap
    admin = AdminClient({"bootstrap.servers": everything})
    for made in admin.create_topics([NewTopic(other, 1, 1)]).values():
        made.result()

    def commits() -> dict[tuple[str, int], int]:
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result()
        return {(each.topic, each.partition): each.offset for each in asked.topic_partitions or []}

    def commit() -> None:
        offsets = [TopicPartition(TOPIC, 0, 1), TopicPartition(other, 0, 7)]
        altered = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, offsets)])
        altered[group].result()

    commit()
    both = {(TOPIC, 0): 1, (other, 0): 7}
    restricted_users.allow(Acl("bob", "delete", "group", group), Acl("bob", "describe", "topic", TOPIC))
    undo = ("--undo-file", str(tmp_path / "undo.json"))
    words = ("delete", group, "--execute", "--yes", *undo)
    answer = ask(restricted_users, "bob", *words)
    assert answer.code == 1 and commits() == both
    assert "may be hidden, and would be deleted without being in an undo file (reading __consumer_offsets" in answer.err
    restricted_users.allow(Acl("bob", "read", "topic", "__consumer_offsets"))
    answer = ask(restricted_users, "bob", *words)
    assert answer.code == 1 and commits() == both
    assert (
        f"1 committed offset on topics without permission DESCRIBE would be deleted: {other}-0"
        in answer.err.replace(" without being in an undo file", "")
    )
    restricted_users.allow(Acl("bob", "describe", "topic", other))
    answer = ask(restricted_users, "bob", *words)
    assert answer.code == 0 and not commits(), answer.err
    undone = ("--undo-file", str(tmp_path / "back.json"))
    back = run_here(
        "reset-offsets", "--from-file", str(tmp_path / "undo.json"), "--execute", "--yes", *undone, bootstrap=everything
    )
    assert back.code == 0 and commits() == both
    restricted_users.forget("bob")
    restricted_users.allow(*ALL_GROUPS, Acl("bob", "delete", "group", group))
    answer = ask(restricted_users, "bob", *words[:-1], str(tmp_path / "x.json"), "--including-hidden-offsets")
    assert answer.code == 0 and not commits()
    restricted_users.forget("bob")
    restricted_users.allow(*ALL_GROUPS)


def test_delete_with_offsets_hidden_by_a_deny_is_refused(restricted_users: Secure, tmp_path: Path) -> None:
    """bob may DESCRIBE every topic but one, and delete the group; the Python API rejects it, too."""
    group, other, everything = "denied", "payroll-denied", restricted_users.sandbox.bootstrap
    admin = AdminClient({"bootstrap.servers": everything})
    for made in admin.create_topics([NewTopic(other, 1, 1)]).values():
        made.result()
    offsets = [TopicPartition(TOPIC, 0, 1), TopicPartition(other, 0, 7)]
    admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, offsets)])[group].result()
    deny = Acl("bob", "describe", "topic", other, deny=True)
    restricted_users.allow(Acl("bob", "describe", "topic", "*"), Acl("bob", "delete", "group", group), deny)
    words = ("delete", group, "--execute", "--yes", "--undo-file", str(tmp_path / "undo.json"))
    answer = ask(restricted_users, "bob", *words)
    assert answer.code == 1 and group in ask(restricted_users, "bob", "list").lines
    assert f": {other}; grant DESCRIBE on the topics, or add --including-hidden-offsets" in answer.err
    cluster = Cluster(command_config=restricted_users.user_file("bob"))
    (refused,) = cluster.delete(group).items
    assert refused.failure and refused.failure.message.endswith("or add including_hidden_offsets=True")
    restricted_users.forget("bob")
    restricted_users.allow(*ALL_GROUPS, Acl("bob", "describe", "topic", "*"), Acl("bob", "delete", "group", group))
    answer = ask(restricted_users, "bob", *words)
    assert answer.code == 0 and group not in ask(restricted_users, "bob", "list").lines, answer.err
    restricted_users.forget("bob")
    restricted_users.allow(*ALL_GROUPS)


def check(secure: Secure, *words: str) -> tuple[int, list[dict[str, Any]]]:
    answer = run_here("config", "check", *words, "-o", "json")
    return answer.code, [row for row in json.loads(answer.out)["items"] if row["result"] != "understood"]


def test_config_check_passes_every_step_and_reports_permissions(restricted_users: Secure) -> None:
    code, rows = check(restricted_users, "--command-config", str(restricted_users.user_file("ann", "SASL_SSL")))
    steps = {row["step"]: row for row in rows}
    assert code == 0
    assert [row["step"] for row in rows[:6]] == ["DNS", "TCP", "TLS", "ApiVersions", "SASL", "Metadata"]
    assert {row["result"] for row in rows[:6]} == {"ok"}
    assert "TLSv1.3" in steps["TLS"]["detail"] and "days)" in steps["TLS"]["detail"]
    assert steps["SASL"]["detail"] == "authenticated with PLAIN as ann"
    release = restricted_users.sandbox.version.name
    assert ("Kafka 2.8 or later, before 3.0" if release == "2.8.2" else "Kafka 4.1 or later") in steps["ApiVersions"][
        "detail"
    ]
    assert (steps["rights"]["result"], steps["groups"]["detail"]) == ("warning", "1 group listed")
    assert "--allow-principal User:ann --operation Describe --cluster" in steps["rights"]["fix"]


def test_config_check_reports_the_session_lifetime(restricted_users: Secure) -> None:
    code, rows = check(restricted_users, "--command-config", str(restricted_users.user_file("ann", "REAUTH")))
    assert code == 0
    assert f"the session expires in {SESSION:.0f} s" in next(row["detail"] for row in rows if row["step"] == "SASL")


@pytest.mark.parametrize(
    ("listener", "words", "step", "detail", "fix"),
    [
        ("EXPIRED", (), "TLS", "its certificate has expired", "renew the broker's certificate"),
        ("WRONG_NAME", (), "TLS", "not for 127.0.0.1", "connect by a name"),
        ("SELF_SIGNED", (), "TLS", "self-signed", "ssl.truststore.location"),
        ("MTLS", (), "ApiVersions", "", "ssl.keystore.location"),  # its words are of Java's version
        ("SASL_PLAINTEXT", (), "TLS", "closed the connection", "SASL_PLAINTEXT"),
        ("SASL_SSL", (), "Metadata", "closed the connection", "security.protocol to SASL_SSL"),
        ("SSL", ("-X", "security.protocol=PLAINTEXT"), "ApiVersions", "TLS", "SSL or SASL_SSL"),
    ],
)
def test_config_check_has_a_fix_for_each_failure(
    restricted_users: Secure, listener: str, words: tuple[str, ...], step: str, detail: str, fix: str
) -> None:
    where = ("-b", restricted_users.bootstrap(listener), "--command-config", str(restricted_users.file("ssl")), *words)
    code, rows = check(restricted_users, *where)
    (row,) = (row for row in rows if row["result"] == "failed")
    assert (code, row["step"]) == (1, step)
    assert detail in row["detail"] and fix in row["fix"]
    assert ("; certificate chain: CN=" in row["detail"]) == (listener in ("EXPIRED", "WRONG_NAME", "SELF_SIGNED"))
    behind = rows[rows.index(row) + 1 :]
    assert behind and {each["result"] for each in behind} == {"not tried"}


def test_config_check_with_wrong_password_masks_it(restricted_users: Secure, tmp_path: Path) -> None:
    text = restricted_users.user_file("ann").read_text().replace(restricted_users.users["ann"], "w0rse")
    file = tmp_path / "wrong.properties"
    file.write_text(text)
    file.chmod(0o600)
    answer = run_here("config", "check", "--command-config", str(file))
    assert answer.code == 1
    (row,) = (row for row in answer.lines if "failed" in row)
    assert "SASL authentication failed (PLAIN as ann)" in row and "sasl.jaas.config" in row
    assert "w0rse" not in answer.out + answer.err


def test_config_check_with_disabled_mechanism_lists_the_enabled_ones(restricted_users: Secure) -> None:
    code, rows = check(
        restricted_users,
        "-b",
        restricted_users.bootstrap("UNSECURED"),
        "--command-config",
        str(restricted_users.user_file("ann")),
    )
    (row,) = (row for row in rows if row["result"] == "failed")
    assert (code, row["step"]) == (1, "SASL")
    assert row["detail"] == "SASL mechanism PLAIN is not enabled on this port; the broker offers OAUTHBEARER"


def test_snapshot_of_a_principal_with_few_acls_is_partial(restricted_users: Secure, tmp_path: Path) -> None:
    """What brokers omit is named, recorded in the file, and unknown in a comparison."""
    whole, ann, bob = (str(tmp_path / name) for name in ("whole", "ann", "bob"))
    operator = ("--command-config", str(restricted_users.file("ssl")))
    assert run_here("snapshot", "save", whole, "--all-groups", *operator).code == 0
    answer = ask(restricted_users, "ann", "snapshot", "save", ann, "--all-groups", "-o", "json")
    assert answer.code == 1 and [row["groups"] for row in answer.items] == [1]
    assert "groups may be missing: needs DESCRIBE on CLUSTER" in answer.err
    answer = run_here("diff", ann, whole, "-o", "json", "--only", "offsets")
    assert answer.code == 1 and {(row["group"], row["result"]) for row in answer.items} == {
        (SECOND, "unknown"),
        (THIRD, "unknown"),
    }
    answer = ask(restricted_users, "bob", "snapshot", "save", bob, "--all-groups", "-o", "json")
    assert answer.code == 1 and "offsets may be missing" in answer.err
    answer = run_here("diff", bob, whole, "-o", "json", "--only", "offsets")
    assert {row["result"] for row in answer.items} == {"unknown"}
    answer = ask(restricted_users, "ann", "snapshot", "restore", whole, FIRST, "--force")
    assert answer.code == 0 and "already equal" in answer.err
