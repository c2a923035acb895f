import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.errors import BrokerUnavailable, Reason
from kgroups.model.cluster import Node
from kgroups.model.listed import ValueList
from kgroups.model.outcome import Failure, Outcome, Scope
from kgroups.model.permissions import DESCRIBE_CLUSTER, Acl
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.render.jsonout import plain_data, write_json, write_jsonl
from kgroups.render.list_view import LIST
from kgroups.render.member_views import MEMBERS, STATE
from kgroups.render.offset_view import OFFSETS
from kgroups.render.table import CHUNK_ROWS, Table
from kgroups.render.views import Tier

Render = Callable[..., str]
Golden = Callable[[str, str], None]


def test_json_list_matches_golden(groups: Outcome[ListRow], render: Render, golden: Golden) -> None:
    outcome = Outcome(groups.items, groups.failures, ("one broker is old",))
    golden("render/list.json", render(outcome, LIST, fmt="json", cluster_id="c-1"))


def test_json_members_match_golden(members: Outcome[MemberRow], render: Render, golden: Golden) -> None:
    golden("render/members.json", render(members, MEMBERS, fmt="json", cluster_id="c-1"))


def test_jsonl_offsets_match_golden(offsets: Outcome[OffsetRow], render: Render, golden: Golden) -> None:
    golden("render/offsets.jsonl", render(offsets, OFFSETS, fmt="jsonl"))


def test_json_has_every_field_in_every_tier(states: Outcome[StateRow], render: Render) -> None:
    for tier in Tier:
        answer = json.loads(render(states, STATE, fmt="json", tier=tier))
        assert answer["schema"] == "kgroups/state/v1"
        assert [set(item) for item in answer["items"]] == [set(StateRow._fields)] * 3
    assert answer["items"][0]["group_epoch"] is None


def test_json_columns_are_selectable(offsets: Outcome[OffsetRow], render: Render) -> None:
    lines = render(offsets, OFFSETS, fmt="jsonl", columns="lag,group").splitlines()
    assert lines[0] == '{"lag": 0, "group": "billing"}'


def test_json_without_items_is_an_envelope(render: Render) -> None:
    assert json.loads(render(Outcome(), OFFSETS, fmt="json")) == {
        "schema": "kgroups/offsets/v1", "cluster_id": None, "items": [], "failures": [], "notices": [],
        "missing_acls": [],
    }  # fmt: skip
    assert render(Outcome(), OFFSETS, fmt="jsonl") == ""


def test_json_failures_are_ordered(render: Render) -> None:
    failures = [
        Failure(Scope.GROUP, name, "the group does not exist", "GROUP_ID_NOT_FOUND", 69, "DescribeGroups", 2)
        for name in "cab"
    ]
    texts = {render(Outcome((), tuple(order)), LIST, fmt="json") for order in (failures, failures[::-1])}
    assert len(texts) == 1
    assert json.loads(texts.pop())["failures"][0] == {
        "scope": "group",
        "name": "a",
        "error": "GROUP_ID_NOT_FOUND",
        "code": 69,
        "message": "the group does not exist",
        "api": "DescribeGroups",
        "broker": 2,
        "reason": None,
        "hint": None,
        "reference": None,
    }


def test_json_failure_of_kgroups_has_reason_and_hint(render: Render) -> None:
    error = BrokerUnavailable("no response", peer="broker 1 (h:1)", reason=Reason.NO_RESPONSE, hint="check it")
    failure = Failure.of(error, Scope.BROKER, "broker 1 (h:1)", api="ListGroups", broker=1)
    (found,) = json.loads(render(Outcome((), (failure,)), LIST, fmt="json"))["failures"]
    assert (found["reason"], found["hint"], found["message"]) == ("no_response", "check it", "no response")
    assert found["reference"] == "errors.md#no_response"


def test_json_chunks_are_joined() -> None:
    rows = [ListRow(f"g{number}", None, "", None, Node(1, "h", 1)) for number in range(CHUNK_ROWS * 2 + 1)]
    whole, lines = io.StringIO(), io.StringIO()
    write_json(Table(LIST, LIST.columns, rows), whole)
    write_jsonl(Table(LIST, LIST.columns, rows), lines)
    items = json.loads(whole.getvalue())["items"]
    assert [item["group"] for item in items] == [row.group for row in rows]
    assert [json.loads(line) for line in lines.getvalue().splitlines()] == items


anything = st.text(st.characters()) | st.none() | st.integers() | st.booleans()


@given(st.lists(st.tuples(anything, anything)))
def test_json_reads_back_and_is_ascii(rows: list[tuple[Any, Any]]) -> None:
    stream = io.StringIO()
    write_jsonl(Table(LIST, LIST.columns[:2], rows), stream)
    text = stream.getvalue()
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    assert [tuple(json.loads(line).values()) for line in text.splitlines()] == rows


@pytest.mark.parametrize(
    "value", [object(), ("a", 1), Table(LIST, LIST.columns, ())], ids=["object", "tuple", "named tuple"]
)
def test_json_value_without_json_form_is_an_error(value: object) -> None:
    with pytest.raises(TypeError, match="no JSON form for"):
        write_jsonl(Table(LIST, LIST.columns[:1], [(value,)]), io.StringIO())


def test_json_listed_is_a_list_and_text_has_commas() -> None:

    value = ValueList(("a", None, 3))
    assert json.loads(json.dumps(plain_data(value))) == ["a", None, 3]
    assert str(value) == "a,None,3"


def test_json_missing_acls_include_failures_and_hidden(render: Render) -> None:
    denied = Failure(Scope.GROUP, "g", "no", "GROUP_AUTHORIZATION_FAILED", 30, acl=Acl("DESCRIBE", "GROUP", "g"))
    answer = json.loads(render(Outcome(failures=(denied,), hidden_by=(DESCRIBE_CLUSTER,)), OFFSETS, fmt="json"))
    assert answer["missing_acls"] == [
        {"operation": "DESCRIBE", "resource": "CLUSTER", "name": "kafka-cluster"},
        {"operation": "DESCRIBE", "resource": "GROUP", "name": "g"},
    ]
