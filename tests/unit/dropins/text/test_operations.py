"""Text of the Java tool about changes."""

from __future__ import annotations

from collections.abc import Callable

from kgroups.dropins.text.operations import (
    deleted_offsets_text,
    deleted_text,
    fallback_text,
    java_error,
    offset_errors_text,
    plan_csv,
    plan_text,
    remark_lines,
    undeleted_text,
)
from kgroups.model.offsets import Commit
from kgroups.model.operations.reset import Clamp, PlannedOffset
from kgroups.model.operations.results import DeletedGroup, DeletedOffset
from kgroups.model.outcome import Failure, Result, Scope

Golden = Callable[[str, str], None]

LONG = "a-group-whose-name-is-longer-than-any-column"
PLAN = (
    PlannedOffset(LONG, "t0", 0, Commit(0, 5), Commit(0, 100)),
    PlannedOffset(
        "orders", "a-topic-with-a-long-name", 12, None, Commit(12, 0), Clamp.BELOW_START, "below log start: x"
    ),
    PlannedOffset("orders", "t0", 1, None, Commit(1, 20), Clamp.NO_RECORD, "no record after that time"),
)


def not_empty(name: str) -> Failure:
    return Failure(Scope.GROUP, name, "has members", "NON_EMPTY_GROUP", 68, "DeleteGroups", 1)


def test_reset_plan_text_matches_golden(golden: Golden) -> None:
    golden("kafka/reset", "".join((*fallback_text(PLAN), *plan_text(PLAN, ["an-active-group"]))))


def test_reset_plan_text_of_no_group_has_no_header() -> None:
    assert "".join(plan_text((), ())) == "\n"
    assert "".join(plan_text((), ["g"])) == f"\n{'GROUP':15} {'TOPIC':15} {'PARTITION':10} NEW-OFFSET\n"


def test_reset_plan_csv_has_group_column_only_on_request() -> None:
    assert "".join(plan_csv(PLAN[1:], with_group=False)) == "a-topic-with-a-long-name,12,0\nt0,1,20\n\n"
    assert "".join(plan_csv(PLAN[2:], with_group=True)) == "orders,t0,1,20\n\n"
    assert "".join(plan_csv((), with_group=True)) == "\n"


def test_reset_plan_remarks_are_notes() -> None:
    assert list(remark_lines(PLAN)) == ["Note: group 'orders': a-topic-with-a-long-name-12: below log start: x"]


def test_deleted_groups_text_when_all_succeed() -> None:
    done = (DeletedGroup("a", Result.APPLIED), DeletedGroup("b", Result.APPLIED))
    assert "".join(deleted_text(done)) == "Deletion of requested consumer groups ('a', 'b') was successful.\n"
    assert "".join(undeleted_text(done)) == ""


def test_deleted_groups_text_when_some_fail() -> None:
    done = (DeletedGroup("a", Result.APPLIED), DeletedGroup("b", Result.FAILED, not_empty("b")))
    assert "".join(deleted_text(done)) == "\nThese consumer groups were deleted successfully: 'a'\n"
    assert "".join(undeleted_text(done)) == (
        "\nError: Deletion of some consumer groups failed:\n"
        "* Group 'b' could not be deleted due to: "
        "org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty.\n"
    )
    assert "".join(deleted_text(done[1:])) == ""


def test_deleted_offsets_text_when_all_succeed() -> None:
    rows = tuple(DeletedOffset("g", "t", partition) for partition in (2, 10, 1))
    header = f"\n{'TOPIC':15} {'PARTITION':10} {'STATUS':15}"
    cells = "".join(f"\n{'t':15} {partition:10} {'Successful':15}" for partition in ("1", "10", "2"))
    assert (
        "".join(deleted_offsets_text("g", rows))
        == f"Request succeeded for deleting offsets from group g.\n{header}{cells}\n"
    )
    assert "".join(offset_errors_text(rows)) == ""


def test_deleted_offsets_text_when_some_fail() -> None:
    subscribed = Failure(Scope.PARTITION, "t-1", "subscribed", "GROUP_SUBSCRIBED_TO_TOPIC", 86, "OffsetDelete", 1)
    rows = (DeletedOffset("g", "t", 1, subscribed), DeletedOffset("g", "t", 2))
    text = "".join(deleted_offsets_text("g", rows))
    assert text.startswith("\nTOPIC")
    assert "Error: org.apache.kafka.common.errors.GroupSubscribedToTopicException: Deleting offsets of a topic" in text
    output = "".join(offset_errors_text(rows))
    assert output == "\nError: Encountered some partition-level error, see the follow-up details.\n"


def test_deleted_offsets_text_of_missing_group() -> None:
    missing = Failure(Scope.GROUP, "g", "the group does not exist", "GROUP_ID_NOT_FOUND", 69, "OffsetDelete", 1)
    assert (
        "".join(offset_errors_text((DeletedOffset("g", "t", 1, missing),))) == "\nError: The group id does not exist.\n"
    )


def test_deleted_offsets_text_of_missing_topic() -> None:
    missing = Failure(Scope.TOPIC, "t", "the topic does not exist", "UNKNOWN_TOPIC_OR_PARTITION", 3, "Metadata")
    text = "".join(deleted_offsets_text("g", (DeletedOffset("g", "t", None, missing),)))
    assert text.startswith("Request succeeded for deleting offsets from group g.\n\nTOPIC")
    assert f"\n{'t':15} {'-':10} Error: " in text


def test_java_error_of_unknown_error_is_its_message() -> None:
    assert java_error(Failure(Scope.GROUP, "g", "no answer")) == "no answer"
