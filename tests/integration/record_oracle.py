"""Read records of ``__consumer_offsets`` with Kafka's own classes."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kgroups.errors import SandboxError
from kgroups.protocol.offsets_topic import RECORD_TYPES
from kgroups.protocol.record_schemas import Record, RecordType, to_json
from kgroups.protocol.record_schemas.spec import Field, default_of
from kgroups.sandbox import kafka_version
from kgroups.sandbox.jars import ensure_jars
from tests.fakes.offset_records import Pair
from tests.integration.java_program import java_command

VERSION: Final = "4.3.1"
"""The newest Kafka whose formatters are published, and the oldest that knows all types of records."""

NEWEST: Final = "4.4.0"
"""It knows all tags, and all older versions of values."""

_SECONDS: Final = 300


def ask_kafka(pairs: Sequence[Pair], scratch: Path) -> Iterator[dict[str, Any]]:
    """For each record what Kafka reads from it: ``type``, ``key``, ``version``, ``value``; or ``error``.

    :raises SandboxError: when there is no compiler beside Java, or the program fails.
    """
    with _run("RecordOracle", pairs, scratch, NEWEST).open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def ask_formatters(pairs: Sequence[Pair], scratch: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What Kafka's GroupMetadataMessageFormatter prints of them, and what its OffsetsMessageFormatter does: ``key`` and
    ``value``, of those records that each one is for.

    :raises SandboxError: as :func:`ask_kafka`.
    """
    groups, commits = _formatted(pairs, scratch, "GroupMetadataMessageFormatter", "OffsetsMessageFormatter")
    return groups, commits


def ask_share_formatter(pairs: Sequence[Pair], scratch: Path) -> list[dict[str, Any]]:
    """What Kafka's ShareGroupStateMessageFormatter prints of records of ``__share_group_state``."""
    (found,) = _formatted(pairs, scratch, "group.share.ShareGroupStateMessageFormatter")
    return found


def _formatted(pairs: Sequence[Pair], scratch: Path, *formatters: str) -> list[list[dict[str, Any]]]:
    lines = _run("FormatterOracle", pairs, scratch, VERSION, *formatters).read_text(encoding="utf-8").splitlines()
    return [list(_objects(line)) for line in lines]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """They stand one behind the other, with nothing between them."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        found, at = decoder.raw_decode(text, at)
        yield found


def _run(program: str, pairs: Sequence[Pair], scratch: Path, version: str, *words: str) -> Path:
    """What the program wrote of these records."""
    asked, answer = scratch / "records.bin", scratch / "records.jsonl"
    with asked.open("wb") as file:
        file.write(struct.pack(">i", len(pairs)))
        for pair in pairs:
            for data in pair:
                file.write(struct.pack(">i", -1 if data is None else len(data)) + (data or b""))
    jars = ensure_jars(kafka_version(version))
    command = java_command(Path(__file__).with_name(f"{program}.java"), [jars], str(asked), str(answer), *words)
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise SandboxError(f"{program} failed: {done.stderr[-2000:]}")
    return answer


def as_kafka_tells(record: Record, types: Mapping[int, RecordType] = RECORD_TYPES) -> dict[str, Any]:
    """A record of ours, which has one of these types, in the shape of the oracle's lines.

    That is, as Kafka's converters write it: names begin with a small letter, bytes are base64, and tagged fields that
    are at their defaults are left out.
    """
    kind = types[record.record_type]
    answer: dict[str, Any] = {"type": kind.id, "key": _told(kind.key, record.key)}
    if record.value is not None:
        answer["version"] = record.value_version
        answer["value"] = _told(kind.value, record.value)
    plain: dict[str, Any] = json.loads(to_json(answer))
    return plain


def _told(fields: Sequence[Field], value: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for field in fields:
        if field.name not in value:
            continue
        each = value[field.name]
        if field.tag is not None and each == default_of(field):
            continue
        if field.fields and each is not None:
            each = [_told(field.fields, one) for one in each] if isinstance(each, list) else _told(field.fields, each)
        found[field.name[0].lower() + field.name[1:]] = each
    return found
