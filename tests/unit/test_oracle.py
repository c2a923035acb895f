from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from kgroups.errors import LocalProtocolError, RemoteProtocolError
from kgroups.protocol.apis.list_groups import ListGroups
from tests.fakes.oracle import build, nested, read, request_type, response_type, write
from tests.fakes.replies import asked


def test_request_has_only_fields_of_its_version() -> None:
    call = ListGroups(("Stable",), ("Classic",))
    assert call.encode(0) == b""
    assert asked(call, 4).states_filter == ("Stable",)
    assert not hasattr(asked(call, 4), "types_filter")


def test_read_starts_at_offset_and_returns_the_end() -> None:
    entity = build(nested(response_type(16, 0), "ListedGroup"), group_id="g", protocol_type="consumer")
    data = write(entity)
    assert read(type(entity), b"xx" + data + b"yy", 2) == (entity, 2 + len(data))


def test_oracle_errors_distinguish_local_from_remote() -> None:
    with pytest.raises(RemoteProtocolError, match="undecodable ListGroupsResponse"):
        read(response_type(16, 0), b"\0")
    with pytest.raises(LocalProtocolError, match="cannot encode FindCoordinatorRequest"):
        write(build(request_type(10, 0), key=None))


# (API, version, what stands before the array, how its length is written)
ABSURD = [
    (16, 0, b"\0\0", b"\x7f\xff\xff\xff"),  # an array of the old kind
    (16, 5, b"\0\0\0\0\0\0", b"\xff\xff\xff\xff\x7f"),  # a compact array
    (9, 8, b"\0\0\0\0\2\2g\2\2t", b"\xff\xff\xff\xff\x7f"),  # one three floors down
    (
        3,
        5,
        b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1t\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0",
        b"\x7f\xff\xff\xff",
    ),  # of numbers
    (18, 3, b"\0\0\1\0\0\0\0\1\0\5", b"\xff\xff\xff\xff\x7f"),  # in a tagged field
]

_IN_LITTLE_MEMORY = """
import sys
from kgroups.errors import RemoteProtocolError
from tests.fakes.oracle import read, response_type
try:
    read(response_type(int(sys.argv[1]), int(sys.argv[2])), bytes.fromhex(sys.argv[3]))
except RemoteProtocolError:
    print("refused")
"""


@pytest.mark.parametrize(
    ("api", "version", "before", "length"), ABSURD, ids=["old", "compact", "deep", "numbers", "tagged"]
)
def test_oracle_rejects_absurd_length_without_allocating(api: int, version: int, before: bytes, length: bytes) -> None:
    """In a process of its own: kio's reader aborts the process where the memory that it reserves is not given."""

    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    command = [sys.executable, "-c", _IN_LITTLE_MEMORY, str(api), str(version), (before + length + b"\0" * 8).hex()]
    done = subprocess.run(command, preexec_fn=little_memory, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "refused"), done.stderr[:200]


@pytest.mark.parametrize(
    ("api", "version", "data"),
    [(16, 0, b"\0\0\xff\xff\xff\xff"), (16, 5, b"\0\0\0\0\0\0\0\0"), (9, 8, b"\0\0\0\0\0\0")],
    ids=["old", "compact", "batched"],
)
def test_oracle_rejects_null_array_where_kafka_allows_none(api: int, version: int, data: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        read(response_type(api, version), data)
