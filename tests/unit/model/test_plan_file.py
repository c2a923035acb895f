from __future__ import annotations

import json

import pytest

from kgroups.errors import UsageError
from kgroups.model.offsets import Commit
from kgroups.model.plan_file import PLAN, UNDO, java_csv, json_plan, json_undo, parse_plan
from kgroups.model.reset import FromPlan, PlannedOffset

PLANNED = [
    PlannedOffset("a, b", "t", 0, Commit(0, 5, 2, "mé"), Commit(0, 7)),
    PlannedOffset("g", "t", 1, None, Commit(1, 0)),
    PlannedOffset("g", "u", 0, Commit(0, 9), None),
]


def moves(text: str, only: str | None = None) -> FromPlan:
    return parse_plan(text, "plan.csv").scenario(only)


def test_three_columns_are_of_the_one_group() -> None:
    assert moves("t,0,5\nt,1,6\n\n", "g").moves == {("g", "t", 0): Commit(0, 5), ("g", "t", 1): Commit(1, 6)}
    with pytest.raises(UsageError, match=r"plan\.csv, line 1: no group in it: three columns go with exactly"):
        moves("t,0,5\n")


def test_four_columns_and_quotes() -> None:
    text = '"a ""b"", c",t,0,5\r\n"two\nlines",t,0, 6 \n'
    assert moves(text).moves == {('a "b", c', "t", 0): Commit(0, 5), ("two\nlines", "t", 0): Commit(0, 6)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("t,0,5\nt,1\n", "line 2: 2 columns"),
        ("t,0,5\n\ng,t,1,5\n", "line 3: 4 columns, and 3 before"),
        ("t,0,5,6,7", "line 1: 5 columns"),
        ("TOPIC,PARTITION,OFFSET\n", "line 1: 'PARTITION' is no partition"),
        ("t,0,-1", "line 1: '-1' is no offset (it is negative)"),
        ("t,0,1e3", "line 1: '1e3' is no offset"),
        ("t,0,", "line 1: '' is no offset"),
        ("t,0,٣", "is no offset"),
        ("t,2147483648,0", "line 1: partition 2147483648 cannot be"),
        ("t,0,9223372036854775808", "offset 9223372036854775808 cannot be"),
        (",0,5", "line 1: the topic is empty"),
        (",t,0,5", "line 1: the group is empty"),
        ("t,0,5\n" + "t" * 32_768 + ",0,5", "line 2: a name of 32,768 bytes; Kafka's protocol takes 32,767"),
        ("é" * 16_384 + ",t,0,5", "line 1: a name of 32,768 bytes"),
        ('t,0,5\n"t,0,5\n', "not CSV: unexpected end of data"),
        ('"t"x,0,5\n', "line 1: not CSV"),
        ("x" * 200_000, "line 1: not CSV: field larger"),
        ("", "there is no offset in it"),
        ("\n \n", "line 2: 1 columns"),
        ("{", "line 1: not JSON"),
        ('{"items": []}', "JSON, but not a plan"),
        (' {\n"items": []}', "JSON, but not a plan"),
        ("[]", "line 1: 1 columns"),
        ('{"a":' * 100_000, "nested too deep"),
        (f'{{"schema": "{PLAN}", "items": []}}', "there is no offset in it"),
        (f'{{"schema": "{PLAN}", "items": [3]}}', "item 1: not an object"),
        (f'{{"schema": "{PLAN}", "items": [{{"group": "g", "topic": "t"}}]}}', "item 1: its partition is missing"),
    ],
)
def test_what_is_no_plan_is_named_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=r"plan\.csv") as caught:
        moves(text, "g")
    assert reason in str(caught.value)


@pytest.mark.parametrize("group", ["{a", "{", "{}", "[a]", "[", "{ a", '{"a', "{\n"])
def test_a_group_whose_name_looks_like_json_is_read_from_csv(group: str) -> None:
    planned = [PlannedOffset(group, "t", 0, None, Commit(0, 5))]
    assert moves("\n".join(java_csv(planned, with_group=True))).moves == {(group, "t", 0): Commit(0, 5)}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"offset": -1}, "item 1: offset -1 cannot be"),
        ({"offset": True}, "wrong kind"),
        ({"offset": "5"}, "wrong kind"),
        ({"offset": 1.5}, "wrong kind"),
        ({"partition": True}, "its partition is missing, or of the wrong kind"),
        ({"metadata": None}, "wrong kind"),
        ({"leader_epoch": -1}, "leader_epoch -1 cannot be"),
        ({"group": ""}, "the group is empty"),
        ({"group": "\ud800"}, "item 1: '\\ud800' is not UTF-8"),
        ({"topic": "\ud800"}, "item 1: '\\ud800' is not UTF-8"),
        ({"metadata": "\ud800"}, "item 1: '\\ud800' is not UTF-8"),
        ({"metadata": "é" * 16_384}, "item 1: metadata of 32,768 bytes"),
    ],
)
def test_what_is_no_item_is_named(change: dict[str, object], reason: str) -> None:
    item = {"group": "g", "topic": "t", "partition": 0, "offset": 5, **change}
    with pytest.raises(UsageError) as caught:
        moves(json.dumps({"schema": UNDO, "items": [item]}))
    assert reason in str(caught.value)


def test_an_item_without_an_offset_is_no_item_that_has_none() -> None:
    with pytest.raises(UsageError, match="its offset is missing; null says that there is none"):
        moves(f'{{"schema": "{PLAN}", "items": [{{"group": "g", "topic": "t", "partition": 0}}]}}')


def test_rows_that_contradict_each_other() -> None:
    assert moves("g,t,0,5\ng,t,0,5\n").moves == {("g", "t", 0): Commit(0, 5)}
    with pytest.raises(UsageError, match="line 2: t-0 of group 'g' is there twice"):
        moves("g,t,0,5\ng,t,0,6\n")


def test_java_s_export() -> None:
    assert list(java_csv(PLANNED, with_group=False)) == ["t,0,7", "t,1,0"]
    assert list(java_csv(PLANNED, with_group=True)) == ['"a, b",t,0,7', "g,t,1,0"]
    long = PlannedOffset("g" * 25, "t" * 24, 0, None, Commit(0, 1))
    assert list(java_csv([long], with_group=True)) == [f'"{"g" * 25}",{"t" * 24},0,1']


def test_an_undo_is_short_and_always_utf_8() -> None:
    for text in ("mé😀", "\ud800", "\x00\u2028"):
        planned = [PlannedOffset("g", "t", 0, Commit(0, 5, None, text), None)]
        lines = "\n".join(json_undo(planned))
        assert len(lines.encode()) < 140 and json.loads(lines)["items"][0]["metadata"] == text
    assert "mé" in "\n".join(json_undo(PLANNED))
    assert "\n".join(json_plan([PlannedOffset("é", "t", 0, None, Commit(0, 5))])).isascii(), "for any stdout"


def test_a_plan_and_an_undo_come_back_as_they_were() -> None:
    plan, undo = moves("\n".join(json_plan(PLANNED))), moves("\n".join(json_undo(PLANNED)))
    assert plan.moves == {entry.key: entry.after for entry in PLANNED} and not plan.exact
    assert undo.moves == {entry.key: entry.before for entry in PLANNED} and undo.exact


def test_an_undo_says_what_a_group_is_made_as_that_no_commit_makes() -> None:
    share = PlannedOffset("s", "t", 0, Commit(0, 5), None, kind="Share")
    classic = PlannedOffset("c", "t", 0, Commit(0, 5), None, kind="Classic")
    text = "\n".join(json_undo([classic, share]))
    assert text.count("type") == 1
    assert parse_plan(text, "f").scenario(None).kinds == {"s": "Share"}
    with pytest.raises(UsageError, match="f, item 2: its type is none of Classic, "):
        parse_plan(text.replace('"Share"', '"Shard"'), "f")
