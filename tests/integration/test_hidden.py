"""What ACLs hide, for each kind of principal, in every command and format, compared with what a super user sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups import Cluster, Limits, Severity, Threshold
from kgroups.sandbox.security import Acl, Secure
from tests.integration.asking import Answer, run_here
from tests.integration.monitoring.prometheus import run_exporter

PUBLIC, PRIVATE = "hide-pub", "hide-priv"
COMMITS = {
    "hide-a-both": {PUBLIC: 5, PRIVATE: 7},
    "hide-a-priv": {PRIVATE: 7},
    "hide-a-pub": {PUBLIC: 20},
    "hide-b-both": {PUBLIC: 20, PRIVATE: 0},
}
RECORDS = 20
LAGS = {group: sum(RECORDS - offset for offset in made.values()) for group, made in COMMITS.items()}

CLUSTER, ALL_TOPICS = ("cluster",), ("topic", "*")
ALL_GROUPS = ("group", "*")
FEW_GROUPS = ("group", "hide-a-", "prefixed")
FEW_TOPICS = ("topic", PUBLIC)
PRINCIPALS: dict[str, tuple[tuple[str, ...], ...]] = {
    "few-groups": (FEW_GROUPS, ALL_TOPICS),
    "few-topics": (CLUSTER, ALL_GROUPS, FEW_TOPICS),
    "no-cluster": (ALL_GROUPS, ALL_TOPICS),
    "few-of-all": (FEW_GROUPS, FEW_TOPICS),
    "denied": (CLUSTER, ALL_GROUPS, ALL_TOPICS, ("topic", PRIVATE, "deny")),
    "everything": (CLUSTER, ALL_GROUPS, ALL_TOPICS),
}
SEES_ALL_GROUPS = frozenset({"few-topics", "denied", "everything"})
"""Known to see all groups; the others do not know whether they do."""
SEES_ALL_OFFSETS = frozenset({"everything"})

GROUP_NOTES = ("the list may be partial", "groups may be hidden", "groups may be missing")
OFFSET_NOTES = ("commits on topics on which DESCRIBE is missing", "permission DESCRIBE", "offsets may be missing")


class Asked(NamedTuple):
    words: tuple[str, ...]
    lists: bool = True
    """Whether the result depends on the list of groups."""
    offsets: bool = True
    """Whether it depends on committed offsets."""


NAMED = tuple(COMMITS)[:3]
CHECKS = (
    ("--max-lag", "16"),
    ("--max-partition-lag", "99"),
    ("--max-topic-lag", "hide-*=99", "--skip-missing-topics"),
    ("--max-commit-age", "1h"),
)
ASKED: dict[str, Asked] = {
    "list": Asked(("list",), offsets=False),
    "list-json": Asked(("list", "-o", "json"), offsets=False),
    **{
        f"{command}-{form}": Asked((*command.split(), "--all-groups", "-o", form))
        for command in ("describe", "describe --deep", "lag", "lag --by topic", "lag --by cluster", "lag --time")
        for form in ("plain", "json", "csv")
    },
    "describe-named": Asked(("describe", *NAMED), lists=False),
    "describe-state": Asked(("describe", "--all-groups", "--state"), offsets=False),
    "lag-named": Asked(("lag", *NAMED), lists=False),
    "lag-regex": Asked(("lag", "--regex", "hide-.*")),
    "explain": Asked(("explain", "--all-groups")),
    "watch": Asked(("watch", "--all-groups", "--count", "1")),
    "reset": Asked(("reset-offsets", *NAMED, "--all-topics", "--to-earliest"), lists=False),
    "delete": Asked(("delete", "--regex", "hide-.*")),
    "delete-offsets": Asked(("delete-offsets", *NAMED, "--topic", PUBLIC), lists=False),
}
VERDICTS: dict[str, Asked] = {
    **{
        f"check-{'-'.join(limit)}-{form}": Asked(("check", "--all-groups", *limit, "-o", form))
        for limit in CHECKS
        for form in ("text", "json", "junit", "openmetrics")
    },
    "check-named": Asked(("check", *NAMED, "--max-lag", "100"), lists=False),
    "check-state": Asked(("check", "--all-groups", "--state", "Empty"), offsets=False),
}


@pytest.fixture(scope="module")
def hiding(secure: Secure) -> Iterator[Secure]:
    """Groups with offsets on two topics, until the tests of this module have ended."""
    bootstrap = secure.sandbox.bootstrap
    admin, producer = AdminClient({"bootstrap.servers": bootstrap}), Producer({"bootstrap.servers": bootstrap})
    for made in admin.create_topics([NewTopic(topic, 1, 1) for topic in (PUBLIC, PRIVATE)]).values():
        made.result()
    for topic in (PUBLIC, PRIVATE):
        for _ in range(RECORDS):
            producer.produce(topic, b"x", on_delivery=delivered)
    assert producer.flush(60) == 0
    for group, commits in COMMITS.items():
        offsets = [TopicPartition(topic, 0, offset) for topic, offset in commits.items()]
        admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, offsets)])[group].result()
    yield secure
    for deleted in admin.delete_consumer_groups(list(COMMITS)).values():
        deleted.result()
    for gone in admin.delete_topics([PUBLIC, PRIVATE]).values():
        gone.result()


def delivered(error: object, message: object) -> None:
    assert error is None


@pytest.fixture(params=PRINCIPALS, scope="module")
def principal(request: pytest.FixtureRequest, hiding: Secure) -> Iterator[str]:
    hiding.forget("ann")
    hiding.allow(
        *(
            Acl("ann", "describe", *rest[:2], prefixed="prefixed" in rest, deny="deny" in rest)
            for rest in PRINCIPALS[request.param]
        )
    )
    yield request.param
    hiding.forget("ann")


@pytest.fixture
def ask(hiding: Secure) -> Callable[..., Answer]:
    return lambda *words: run_here(*words, "--command-config", str(hiding.user_file("ann")))


@pytest.mark.parametrize("name", ASKED)
def test_result_notes_what_may_be_hidden_and_nothing_else(
    name: str, principal: str, ask: Callable[..., Answer]
) -> None:
    words, lists, offsets = ASKED[name]
    answer = ask(*words)
    text = answer.err + answer.out
    assert any(note in text for note in GROUP_NOTES) == (lists and principal not in SEES_ALL_GROUPS), text
    assert any(note in text for note in OFFSET_NOTES) == (offsets and principal not in SEES_ALL_OFFSETS), text
    if "-o json" in " ".join(words) and "watch" not in words:
        notices = " ".join(answer.envelope["notices"])
        assert any(note in notices for note in OFFSET_NOTES) == (offsets and principal not in SEES_ALL_OFFSETS)


def test_groups_on_a_topic_may_be_more_only_if_it_is_hidden(principal: str, ask: Callable[..., Answer]) -> None:
    for topic in (PUBLIC, PRIVATE):
        answer = ask("list", "--topic", topic)
        hidden = topic == PRIVATE and principal in ("few-topics", "few-of-all", "denied")
        assert any(note in answer.err for note in OFFSET_NOTES) == hidden, answer.err


@pytest.mark.parametrize("name", VERDICTS)
def test_verdict_is_unknown_where_something_may_be_hidden(
    name: str, principal: str, ask: Callable[..., Answer]
) -> None:
    words, lists, offsets = VERDICTS[name]
    answer = ask(*words)
    hidden = (lists and principal not in SEES_ALL_GROUPS) or (offsets and principal not in SEES_ALL_OFFSETS)
    assert answer.code in ((2, 3) if hidden else (0, 2, 3)), answer.out
    text = answer.out + answer.err
    if "openmetrics" in words:
        assert bool(re.search(r'status\{group="",check="answered",topic=""\} 3', text)) == (
            lists and principal not in SEES_ALL_GROUPS
        )
        assert hidden == bool(re.search(r"\} 3$", text, re.MULTILINE)) or "--max-commit-age" in words
        return
    assert any(note in text for note in GROUP_NOTES) == (lists and principal not in SEES_ALL_GROUPS), text
    if offsets and principal not in SEES_ALL_OFFSETS and "--max-lag" in words:
        assert any(note in text for note in OFFSET_NOTES), text
    if not hidden and "--max-commit-age" not in words:
        assert "UNKNOWN" not in text and not any(note in text for note in OFFSET_NOTES), text


def test_check_says_ok_only_of_what_a_super_user_sees(principal: str, ask: Callable[..., Answer]) -> None:
    answer = ask("check", "--regex", "hide-.*", "--max-lag", "1000", "-o", "json")
    for finding in answer.items:
        if finding["check"] == "lag" and finding["status"] == "OK" and finding["group"] in LAGS:
            assert finding["value"] == LAGS[finding["group"]]
    seen = {finding["group"] for finding in answer.items}
    assert answer.code == (0 if principal in SEES_ALL_OFFSETS else 3)
    assert seen >= COMMITS.keys() or answer.code == 3


def test_check_of_one_topic_is_certain_for_a_principal_that_sees_it(principal: str, ask: Callable[..., Answer]) -> None:
    answer = ask("check", "hide-a-both", "--max-topic-lag", f"{PUBLIC}=16")
    assert (answer.code, "lag 15" in answer.out) == (0, True), answer.out


def test_python_check_is_unknown_where_offsets_may_be_hidden(principal: str, hiding: Secure) -> None:
    cluster = Cluster(command_config=hiding.user_file("ann"))
    report = cluster.check(*NAMED, limits=Limits(lag=Threshold(critical=1000)))
    assert report.severity is (Severity.OK if principal in SEES_ALL_OFFSETS else Severity.UNKNOWN)


def test_snapshot_is_complete_only_if_nothing_may_be_hidden(
    principal: str, ask: Callable[..., Answer], tmp_path: Path
) -> None:
    path = tmp_path / "snapshot.json"
    answer = ask("snapshot", "save", str(path), "--regex", "hide-.*")
    assert answer.code == (0 if principal == "everything" else 1), answer.err
    if principal == "everything":
        assert ask("snapshot", "diff", str(path)).code == 0
    else:
        diff = ask("snapshot", "diff", str(path))
        assert diff.code == 1 and "may be missing" in diff.err


def test_exporter_reports_what_may_be_hidden(principal: str, hiding: Secure) -> None:
    words = ("--command-config", str(hiding.user_file("ann")), "--regex", "hide-.*")
    with run_exporter(None, *words) as address, urlopen(f"http://{address}/metrics", timeout=60) as answer:
        text = answer.read().decode()
    for what, sees in (("groups", SEES_ALL_GROUPS), ("offsets", SEES_ALL_OFFSETS)):
        assert f'kgroups_hidden{{what="{what}"}} {float(principal not in sees)}' in text


@pytest.mark.parametrize("name", [*ASKED, *VERDICTS])
def test_super_user_gets_no_note(name: str, hiding: Secure) -> None:
    words = (ASKED | VERDICTS)[name].words
    answer = run_here(*words, "-b", hiding.sandbox.bootstrap)
    assert not any(note in answer.out + answer.err for note in (*GROUP_NOTES, *OFFSET_NOTES))
