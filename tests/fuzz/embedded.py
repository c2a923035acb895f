"""atheris, run by hand: every decoder of what clients put into group metadata must answer, whatever the bytes."""

from __future__ import annotations

import json
import sys
from contextlib import suppress

import atheris

with atheris.instrument_imports(include=["kgroups"]):
    from kgroups.errors import RemoteProtocolError
    from kgroups.model.cluster import Node
    from kgroups.model.groups import Group, Member
    from kgroups.model.member_rows import member_rows
    from kgroups.protocol.embedded.registry import TYPES, USER_DATA, decode_member
    from kgroups.protocol.record_entries import read_entries
    from kgroups.render.cells import cell_text
    from kgroups.render.jsonout import plain_data

KINDS = [*((kind, "") for kind in TYPES), *(("consumer", assignor) for assignor in (*USER_DATA, "range")), ("x", "")]
NODE = Node(1, "h", 1)


def one(data: bytes) -> None:
    if not data:
        return
    protocol_type, protocol = KINDS[data[0] % len(KINDS)]
    cut = 1 + (data[1] if len(data) > 1 else 0)
    for metadata, assignment in ((data[1:], data[1:]), (data[2:cut], data[cut:])):
        asked, held = decode_member(protocol_type, metadata, assignment, protocol)
        group = Group(
            "g", "Classic", "Stable", protocol_type, protocol, NODE, (Member("m", "c", "h", held, subscription=asked),)
        )
        for row in member_rows(group):
            assert all(cell_text(value).isprintable() for value in row)
            json.dumps([plain_data(value) for value in row])
    with suppress(RemoteProtocolError):
        read_entries(data[1:], 0)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
