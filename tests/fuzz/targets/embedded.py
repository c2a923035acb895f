"""Decoders of group metadata return a value for any bytes, and the rows can be rendered."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.views.member_rows import member_rows
from kgroups.protocol.embedded.registry import TYPES, USER_DATA, _decode
from kgroups.render.cells import cell_text
from kgroups.render.jsonout import plain_data
from tests.fakes.cluster_state import assignment_bytes, subscription_bytes

KINDS = [*((kind, "") for kind in TYPES), *(("consumer", assignor) for assignor in (*USER_DATA, "range")), ("x", "")]
NODE = Node(1, "h", 1)


def seeds() -> Iterator[bytes]:
    held, asked = assignment_bytes({"t": (0, 1), "u": (2,)}), subscription_bytes(["t", "u"])
    work = bytes.fromhex("0001000000016c000175") + bytes(8) + bytes.fromhex("00000001000163000000020000000000000001")
    registry = b'{"host": "h", "port": 8081, "master_eligibility": true, "scheme": "http", "version": 1}'
    for at in range(len(KINDS)):
        for part in (held, asked, work, registry, b'{"error": 0, "master": "a", "master_identity": ' + registry + b"}"):
            yield bytes([at, 128]) + part + part


def one(data: bytes) -> None:
    if not data:
        return
    protocol_type, protocol = KINDS[data[0] % len(KINDS)]
    cut = 2 + (data[1] * len(data) // 256 if len(data) > 1 else 0)
    for metadata, assignment in ((data[1:], data[1:]), (data[2:cut], data[cut:])):
        # Not decode_member, which keeps what is small: each input is to be decoded.
        asked = _decode(protocol_type, protocol, metadata, 0)
        held = _decode(protocol_type, protocol, assignment, 1)
        member = Member("m", "c", "h", held, subscription=asked)
        for row in member_rows(Group("g", "Classic", "Stable", protocol_type, protocol, NODE, (member,))):
            assert all(cell_text(value).isprintable() for value in row)
            json.dumps([plain_data(value) for value in row])
