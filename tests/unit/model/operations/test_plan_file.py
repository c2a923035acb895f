from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kgroups.errors import UsageError
from kgroups.model.offsets import Commit
from kgroups.model.operations.origin import Mismatch, Source
from kgroups.model.operations.plan_file import PLAN, UNDO, java_csv, json_plan, parse_plan
from kgroups.model.operations.reset import FromPlan, PlannedOffset
from kgroups.model.operations.undo_file import result_line, undo_lines
from kgroups.model.outcome import Result

PLANNED = [
    PlannedOffset("a, b", "t", 0, Commit(0, 5, 2, "mé"), Commit(0, 7)),
    PlannedOffset("g", "t", 1, None, Commit(1, 0)),
    PlannedOffset("g", "u", 0, Commit(0, 9), None),
]


def moves(text: str, only: str | None = None) -> FromPlan:
    return parse_plan(text, "plan.csv").scenario(only)


def test_csv_with_three_columns_needs_one_group() -> None:
    assert moves("t,0,5\nt,1,6\n\n", "g").moves == {("g", "t", 0): Commit(0, 5), ("g", "t", 1): Commit(1, 6)}
    with pytest.raises(UsageError, match=r"plan\.csv, line 1: three columns have no group; use exactly"):
        moves("t,0,5\n")


def test_csv_with_four_columns_may_be_quoted() -> None:
    text = '"a ""b"", c",t,0,5\r\n"two\nlines",t,0, 6 \n'
    assert moves(text).moves == {('a "b", c', "t", 0): Commit(0, 5), ("two\nlines", "t", 0): Commit(0, 6)}


def test_csv_trailing_comma_is_ignored_as_in_java() -> None:
    assert moves("t,0,5,\nt,1,6, \n", "g").moves == {("g", "t", 0): Commit(0, 5), ("g", "t", 1): Commit(1, 6)}
    assert moves("g,t,0,5,\ng,t,1,6\n").moves == {("g", "t", 0): Commit(0, 5), ("g", "t", 1): Commit(1, 6)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("t,0,5\nt,1\n", "line 2: 2 columns"),
        ("t,0,5\n\ng,t,1,5\n", "line 3: 4 columns; previous lines have 3"),
        ("t,0,5,6,7", "line 1: 5 columns"),
        ("TOPIC,PARTITION,OFFSET\n", "line 1: 'PARTITION' is not a valid partition"),
        ("t,0,-1", "line 1: '-1' is not a valid offset (it is negative)"),
        ("t,0,1e3", "line 1: '1e3' is not a valid offset"),
        ("t,0,", "line 1: '' is not a valid offset"),
        ("t,0,٣", "is not a valid offset"),
        ("t,2147483648,0", "line 1: partition 2147483648 is out of range"),
        ("t,0,9223372036854775808", "offset 9223372036854775808 is out of range"),
        (",0,5", "line 1: the topic is empty"),
        (",t,0,5", "line 1: the group is empty"),
        ("t,0,5\n" + "t" * 32_768 + ",0,5", "line 2: a name of 32,768 bytes; Kafka's protocol takes 32,767"),
        ("é" * 16_384 + ",t,0,5", "line 1: a name of 32,768 bytes"),
        ('t,0,5\n"t,0,5\n', "not CSV: unexpected end of data"),
        ('"t"x,0,5\n', "line 1: not CSV"),
        ("t\rx,0,5\nt,1,5\n", "line 1: not CSV: a carriage return within a line"),
        ("x" * 200_000, "line 1: not CSV: field larger"),
        ("", "the file contains no offsets"),
        ("\n \n", "line 2: 1 column;"),
        ("{", "line 1: not JSON"),
        ('{"items": []}', "JSON, but not a plan"),
        (' {\n"items": []}', "JSON, but not a plan"),
        ("[]", "line 1: 1 column;"),
        ('{"a":' * 100_000, "nested too deep"),
        (f'{{"schema": "{PLAN}", "items": []}}', "the file contains no offsets"),
        (f'{{"schema": "{PLAN}", "items": [3]}}', "item 1: not an object"),
        (f'{{"schema": "{PLAN}", "items": [{{"group": "g", "topic": "t"}}]}}', "item 1: its partition is missing"),
    ],
)
def test_csv_errors_name_the_line(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=r"plan\.csv") as caught:
        moves(text, "g")
    assert reason in str(caught.value)


@pytest.mark.parametrize("group", ["{a", "{", "{}", "[a]", "[", "{ a", '{"a', "{\n"])
def test_csv_group_name_that_looks_like_json_is_read(group: str) -> None:
    planned = [PlannedOffset(group, "t", 0, None, Commit(0, 5))]
    assert moves("\n".join(java_csv(planned, with_group=True))).moves == {(group, "t", 0): Commit(0, 5)}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"offset": -1}, "item 1: offset -1 is out of range"),
        ({"offset": True}, "wrong type"),
        ({"offset": "5"}, "wrong type"),
        ({"offset": 1.5}, "wrong type"),
        ({"partition": True}, "its partition is missing, or has the wrong type"),
        ({"metadata": None}, "wrong type"),
        ({"leader_epoch": -1}, "leader_epoch -1 is out of range"),
        ({"group": ""}, "the group is empty"),
        ({"group": "\ud800"}, "item 1: '\\ud800' is not UTF-8"),
        ({"topic": "\ud800"}, "item 1: '\\ud800' is not UTF-8"),
        ({"metadata": "\ud800"}, "item 1: '\\ud800' is not UTF-8"),
        ({"metadata": "é" * 16_384}, "item 1: metadata of 32,768 bytes"),
    ],
)
def test_json_item_errors_name_the_item(change: dict[str, object], reason: str) -> None:
    item = {"group": "g", "topic": "t", "partition": 0, "offset": 5, **change}
    with pytest.raises(UsageError) as caught:
        moves(json.dumps({"schema": UNDO, "items": [item]}))
    assert reason in str(caught.value)


def test_json_item_without_offset_field_is_rejected() -> None:
    with pytest.raises(UsageError, match="its offset is missing; use null for none"):
        moves(f'{{"schema": "{PLAN}", "items": [{{"group": "g", "topic": "t", "partition": 0}}]}}')


def test_csv_contradicting_rows_are_rejected() -> None:
    assert moves("g,t,0,5\ng,t,0,5\n").moves == {("g", "t", 0): Commit(0, 5)}
    with pytest.raises(UsageError, match="line 2: t-0 of group 'g' occurs twice"):
        moves("g,t,0,5\ng,t,0,6\n")


def test_csv_export_matches_java() -> None:
    assert list(java_csv(PLANNED, with_group=False)) == ["t,0,7", "t,1,0"]
    assert list(java_csv(PLANNED, with_group=True)) == ['"a, b",t,0,7', "g,t,1,0"]
    long = PlannedOffset("g" * 25, "t" * 24, 0, None, Commit(0, 1))
    assert list(java_csv([long], with_group=True)) == [f'"{"g" * 25}",{"t" * 24},0,1']


def test_undo_lines_are_short_and_valid_utf_8() -> None:
    for text in ("mé😀", "\ud800", "\x00\u2028"):
        planned = [PlannedOffset("g", "t", 0, Commit(0, 5, None, text), None)]
        _, line = undo_lines(planned, Source())
        assert len(line.encode()) < 140 and json.loads(line)["old_metadata"] == text
    assert "mé" in "\n".join(undo_lines(PLANNED, Source()))
    assert "\n".join(json_plan([PlannedOffset("é", "t", 0, None, Commit(0, 5))])).isascii(), "for any stdout"


def test_plan_and_undo_round_trip() -> None:
    plan, undo = moves("\n".join(json_plan(PLANNED))), moves("\n".join(undo_lines(PLANNED, Source())))
    assert plan.moves == {entry.key: entry.after for entry in PLANNED} and not plan.exact
    assert undo.moves == {entry.key: entry.before for entry in PLANNED} and undo.exact


def test_undo_names_group_types() -> None:
    share = PlannedOffset("s", "t", 0, Commit(0, 5), None, kind="Share")
    classic = PlannedOffset("c", "t", 0, Commit(0, 5), None, kind="Classic")
    text = "\n".join(undo_lines([classic, share], Source()))
    assert text.count('"type"') == 2
    assert parse_plan(text, "f").scenario(None).kinds == {"c": "Classic", "s": "Share"}
    with pytest.raises(UsageError, match="f, line 3: its type must be one of Classic, "):
        parse_plan(text.replace('"Share"', '"Shard"'), "f")


HERE = Path(__file__).parent


def test_v1_files_are_still_read() -> None:
    undo = parse_plan((HERE / "undo-v1.json").read_text(), "undo.json").scenario(None)
    assert undo.exact and undo.kinds == {"s": "Share"}
    assert undo.moves == {
        ("a, b", "t", 0): Commit(0, 5, 2, "mé"),
        ("g", "t", 1): None,
        ("s", "u", 0): Commit(0, 9),
    }
    assert undo.origin and undo.origin.source.cluster_id is None and not undo.origin.written
    plan = parse_plan((HERE / "plan-v1.json").read_text(), "plan.json").scenario(None)
    assert not plan.exact and plan.origin and plan.origin.source == Source() and not plan.origin.written
    assert plan.moves == {
        ("a, b", "t", 0): Commit(0, 7),
        ("g", "t", 1): Commit(1, 0, 3, "mé"),
        ("g", "u", 0): None,
    }
    table = parse_plan((HERE / "plan-v1.csv").read_text(), "plan.csv").scenario(None)
    assert table.origin is None and table.moves == {("a, b", "t", 0): Commit(0, 7), ("g", "t", 1): Commit(1, 0)}


SOURCE = Source(
    "cluster-1", "host:9092", {"t": 5, "u": 2**128 - 1}, "kgroups reset-offsets g", "2026-01-01T00:00:00Z", "1"
)


@pytest.mark.parametrize("lines", [undo_lines, json_plan])
def test_plan_file_keeps_its_source(lines: Any) -> None:
    text = "\n".join(lines(PLANNED, SOURCE))
    origin = parse_plan(text, "f").scenario(None, [Mismatch.TOPIC]).origin
    assert origin and origin.source == SOURCE and origin.name == "f" and origin.accepted == {Mismatch.TOPIC}
    assert '"t": "AAAAAAAAAAAAAAAAAAAABQ"' in text, "as Kafka's tools print it"


def test_undo_results_are_appended_and_read_back() -> None:
    beyond = PLANNED[0]._replace(beyond_end=True)
    text = "\n".join(undo_lines([beyond, *PLANNED[1:]], SOURCE)) + "\n"
    keys = [entry.key for entry in PLANNED]
    origin = parse_plan(text, "f").scenario(None).origin
    assert origin and origin.written == {entry.key: entry.after for entry in PLANNED}
    assert not origin.results and origin.beyond_end == {keys[0]}
    text += result_line(Result.APPLIED, [1, 3]) + "\n"
    text += result_line(Result.UNKNOWN, [2], "no answer") + "\n"
    origin = parse_plan(text, "f").scenario(None).origin
    applied, unknown = Result.APPLIED, Result.UNKNOWN
    assert origin and origin.results == {keys[0]: applied, keys[1]: unknown, keys[2]: applied}
    cut = parse_plan(text + '{"result": "fai', "f").scenario(None).origin
    assert cut and cut.results == origin.results, "killed while the line was written"


@pytest.mark.parametrize(
    ("number", "old", "new", "reason"),
    [
        (1, '"offsets": 3', '"offsets": "3"', "line 1: its number of offsets is missing"),
        (1, '"offsets": 3', '"offsets": 9', "line 5: truncated: 3 of 9 offsets can be read"),
        (1, '"cluster_id": "c', '"cluster_id": 3, "x": "c', "line 1: its cluster_id is not a string"),
        (1, "AAAAAA", "A-A", "line 1: its topic_ids has a value that is not a topic ID"),
        (1, '"topic_ids": {', '"topic_ids": 5, "x": {', "line 1: its topic_ids is not an object"),
        (
            3,
            "}",
            "",
            "line 3: truncated: 1 of 3 offsets can be read; kgroups changes nothing",
        ),
        (3, '"topic"', '"topics"', "line 3: its topic is missing"),
        (4, "new_", "knew_", "line 4: its old_offset or new_offset is missing"),
        (4, "9", "-9", "line 4: old_offset -9 is out of range"),
    ],
)
def test_damaged_undo_file_is_named_with_its_line(number: int, old: str, new: str, reason: str) -> None:
    lines = list(undo_lines(PLANNED, SOURCE))
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    with pytest.raises(UsageError) as caught:
        parse_plan("\n".join(lines), "f")
    assert f"f, {reason}" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", "not a JSON object"),
        ('{"result": "perhaps", "offsets": [1]}', "not a result: applied, failed, unknown, with the numbers"),
        ('{"result": "applied", "offsets": [4]}', "4 is not a number of an offset, from 1 to 3"),
        ('{"result": "applied", "offsets": [true]}', "True is not a number of an offset"),
        ('{"result": "applied"}', "not a result"),
    ],
)
def test_damaged_result_is_named_with_its_line(line: str, reason: str) -> None:
    lines = [*undo_lines(PLANNED, SOURCE), line, result_line(Result.APPLIED, [1])]
    with pytest.raises(UsageError) as caught:
        parse_plan("\n".join(lines), "f")
    assert f"f, line 5: {reason}" in str(caught.value)


@pytest.mark.parametrize("key", ["new_offset", "new_ofset"])
def test_unknown_key_of_a_plan_is_rejected(key: str) -> None:
    lines = "\n".join(json_plan(PLANNED)).replace('"offset"', f'"{key}"', 1)
    with pytest.raises(UsageError, match=f"f, item 1: its key '{key}' is unknown"):
        parse_plan(lines, "f")
