"""Our schemas of the records of coordinators against Kafka's own, which stand in its jars. Needs no broker."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kgroups.history.decode import modern
from kgroups.protocol import share_state
from kgroups.protocol.offsets_topic import RECORD_TYPES
from kgroups.protocol.record_schemas import RecordType
from kgroups.protocol.record_schemas.spec import Field, Versions, versions
from kgroups.protocol.transaction_log import TRANSACTION
from kgroups.sandbox import kafka_version
from kgroups.sandbox.jars import ensure_jars
from tests.integration.java_program import java_command

VERSION = "4.4.0"
"""The newest: records only ever gain types and tags."""

Definition = Mapping[str, Any]

WITHOUT_VERSIONS = {
    "LastAssignmentConfigs",
    *("PreviousProducerId", "NextProducerId", "NextProducerEpoch", "ClientTransactionVersion"),
}
"""The tagged fields whose definitions say in which versions they are tagged, and nothing else."""

PRIMITIVES = {"int8", "int16", "uint16", "int32", "int64", "string", "bytes", "uuid"}


@pytest.fixture(scope="module")
def jar(require_kafka: Callable[[str], None]) -> Path:
    require_kafka(VERSION)
    return ensure_jars(kafka_version(VERSION)) / f"kafka-group-coordinator-{VERSION}.jar"


@pytest.fixture(scope="module")
def definitions(jar: Path) -> dict[str, Definition]:
    return definitions_of(jar)


@pytest.fixture(scope="module")
def share_definitions(jar: Path) -> dict[str, Definition]:
    return definitions_of(jar.with_name(f"kafka-share-coordinator-{VERSION}.jar"))


def definitions_of(jar: Path) -> dict[str, Definition]:
    """By the name of the message."""
    with zipfile.ZipFile(jar) as files:
        names = [name for name in files.namelist() if re.fullmatch(r"common/message/\w+\.json", name)]
        texts = [files.read(name).decode() for name in names]
    # JSON knows no comments, these files do: whole lines.
    found = [json.loads(re.sub(r"(?m)^\s*//.*$", "", text)) for text in texts]
    return {definition["name"]: definition for definition in found}


def test_record_types_match_kafka_definitions(
    definitions: dict[str, Definition], share_definitions: dict[str, Definition]
) -> None:
    for kafka, types in ((definitions, RECORD_TYPES), (share_definitions, share_state.RECORD_TYPES)):
        answer = {(definition["apiKey"], name) for name, definition in kafka.items()}
        assert answer == {(kind.id, f"{kind.name}{part}") for kind in types.values() for part in ("Key", "Value")}


@pytest.mark.parametrize("record_type", RECORD_TYPES)
def test_record_fields_match_kafka_definitions(record_type: int, definitions: dict[str, Definition]) -> None:
    compare_fields(RECORD_TYPES[record_type], definitions)


@pytest.mark.parametrize("record_type", share_state.RECORD_TYPES)
def test_share_record_fields_match_kafka_definitions(
    record_type: int, share_definitions: dict[str, Definition]
) -> None:
    compare_fields(share_state.RECORD_TYPES[record_type], share_definitions)


def test_transaction_record_fields_match_kafka_definitions(jar: Path) -> None:
    definitions = definitions_of(jar.with_name(f"kafka-transaction-coordinator-{VERSION}.jar"))
    assert {each["apiKey"] for each in definitions.values()} == {TRANSACTION.id}
    compare_fields(TRANSACTION, definitions)


def compare_fields(kind: RecordType, definitions: dict[str, Definition]) -> None:
    key, value = definitions[f"{kind.name}Key"], definitions[f"{kind.name}Value"]
    assert (key["type"], key["validVersions"], key["flexibleVersions"]) == ("coordinator-key", "0", "none")
    assert (value["type"], value["validVersions"], value["flexibleVersions"]) == (
        "coordinator-value",
        kind.valid,
        kind.flexible,
    )
    assert list(ours(kind.key, versions("0"))) == list(theirs(key, key["fields"]))
    assert list(ours(kind.value, versions(kind.valid))) == list(theirs(value, value["fields"]))


Shape = tuple[str, str, list[int], bool, int | None, int | None, list[Any]]
"""Name, type, versions, nullable, tag, default of a tagged number, fields."""


def ours(fields: tuple[Field, ...], valid: Versions) -> Iterator[Shape]:
    for field in fields:
        present = _within(field.versions, valid)
        below = list(ours(field.fields, valid))
        assert bool(below) == (field.type.removeprefix("[]") not in PRIMITIVES)
        default = (field.default or 0) if field.tag is not None and field.type.startswith("int") else None
        yield field.name, field.type, present, field.nullable, field.tag, default, below


def theirs(message: Definition, fields: list[Definition]) -> Iterator[Shape]:
    valid = versions(message["validVersions"])
    structs = {struct["name"]: struct["fields"] for struct in message.get("commonStructs", ())}
    for field in fields:
        name, kind = field["name"], field["type"]
        assert ("versions" in field) == (name not in WITHOUT_VERSIONS)
        present = _within(field.get("versions") or field["taggedVersions"], valid)
        if nullable := "nullableVersions" in field:
            assert set(_within(field["nullableVersions"], valid)) >= set(present)
        if tagged := "tag" in field:
            assert _within(field["taggedVersions"], valid) == present
            # "null" in quotes would be a default that default_of does not give.
            assert field.get("default") != "null"
        default = int(field.get("default", 0)) if tagged and kind.startswith("int") else None
        below = field.get("fields") or structs.get(kind.removeprefix("[]"), [])
        yield name, kind, present, nullable, field.get("tag"), default, list(theirs(message, below))


def _within(text: str, valid: Versions) -> list[int]:
    return [version for version in range(valid.first, (valid.last or 0) + 1) if version in versions(text)]


STATES = """
for (var state : org.apache.kafka.coordinator.group.{room}.MemberState.values())
    System.out.println(state.value() + " " + state.name().toLowerCase());
"""


@pytest.mark.parametrize(
    ("room", "states"),
    [("modern", modern.MODERN), ("streams", modern.STREAMS)],
    ids=["modern", "streams"],
)
def test_member_state_names_match_kafka(
    room: str, states: Mapping[int, str], jar: Path, tmp_path: Path, jdk: None
) -> None:
    program = tmp_path / "States.java"
    body = STATES.replace("{room}", room)
    program.write_text(f"public class States {{ public static void main(String[] none) {{ {body} }} }}")
    done = subprocess.run(java_command(program, [jar.parent]), capture_output=True, text=True, timeout=120, check=True)
    assert {int(line.split()[0]): line.split()[1] for line in done.stdout.splitlines()} == states
