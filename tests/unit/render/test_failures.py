from kgroups.model.outcome import Failure, Scope
from kgroups.protocol.error_codes import kafka_error
from kgroups.render.failures import failure_lines, notice_lines


def missing(name: str) -> Failure:
    return Failure(Scope.GROUP, name, "the group does not exist", "GROUP_ID_NOT_FOUND", 69)


def test_failure_line_names_what_and_why() -> None:
    assert list(failure_lines([missing("x")])) == ["kgroups: group 'x': the group does not exist [GROUP_ID_NOT_FOUND]"]
    denied = Failure(Scope.TOPIC, "t", "not authorized", "TOPIC_AUTHORIZATION_FAILED", 29, "ListOffsets", 2)
    assert list(failure_lines([denied])) == [
        "kgroups: topic 't': not authorized [TOPIC_AUTHORIZATION_FAILED, ListOffsets, broker 2]"
    ]


def test_failure_lines_group_equal_failures() -> None:
    failures = [Failure(Scope.GROUP, f"g-{n:04}", "no answer", None, None, "ListGroups", 2) for n in range(3333)]
    assert list(failure_lines(reversed(failures))) == [
        "kgroups: 3,333 groups: no answer [ListGroups, broker 2]: g-0000, g-0001, g-0002, … and 3,330 more"
    ]
    assert list(failure_lines(failures[:3])) == [
        "kgroups: 3 groups: no answer [ListGroups, broker 2]: g-0000, g-0001, g-0002"
    ]


def test_failure_lines_count_a_name_once() -> None:
    assert len(list(failure_lines([missing("x"), missing("x")]))) == 1
    assert "'x'" in next(failure_lines([missing("x"), missing("x")]))


def test_failure_lines_are_ordered_by_scope() -> None:
    failures = [
        missing("x"),
        Failure(Scope.BROKER, "2", "it did not answer in 5 s", None, None, "DescribeGroups", 2),
        Failure(Scope.CLUSTER, "", "too old"),
        Failure(Scope.GROUP, "y", "not authorized", "GROUP_AUTHORIZATION_FAILED", 30),
        Failure(Scope.BROKER, "broker 3 (h:9092)", "refused"),
    ]
    expected = [
        "kgroups: cluster: too old",
        "kgroups: broker 2: it did not answer in 5 s [DescribeGroups]",
        "kgroups: broker 3 (h:9092): refused",
        "kgroups: group 'x': the group does not exist [GROUP_ID_NOT_FOUND]",
        "kgroups: group 'y': not authorized [GROUP_AUTHORIZATION_FAILED]",
    ]
    assert list(failure_lines(failures)) == expected
    assert list(failure_lines(failures[::-1])) == expected


def test_failure_lines_have_no_raw_control_characters() -> None:
    evil = "\x1b[2J\u202e\n"
    failures = [Failure(scope, evil + name, evil, evil, 1, evil, 1) for scope in Scope for name in "ab"]
    lines = [*notice_lines((evil,)), *failure_lines((*failures, Failure(Scope.GROUP, evil, "m")))]
    assert all(line.isprintable() for line in lines)
    assert len(lines) == len(Scope) + 2


def test_notice_lines_are_notes() -> None:
    assert list(notice_lines(["read by librdkafka"])) == ["kgroups: note: read by librdkafka"]


def test_failure_lines_group_failures_with_the_same_missing_acl() -> None:
    denied = [
        kafka_error(30).failure(Scope.GROUP, name, api="DescribeGroups", broker=1) for name in ("a", "b", "DESCRIBE")
    ]
    assert list(failure_lines(denied[:1])) == [
        "kgroups: group 'a': not authorized: needs DESCRIBE on GROUP a [GROUP_AUTHORIZATION_FAILED, DescribeGroups, "
        "broker 1]"
    ]
    assert list(failure_lines(denied)) == [
        "kgroups: 3 groups: not authorized: needs DESCRIBE on each GROUP [GROUP_AUTHORIZATION_FAILED, DescribeGroups, "
        "broker 1]: DESCRIBE, a, b"
    ]
