"""Every API in every supported version: requests match kio, responses are read, corrupt bytes are rejected."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.error_codes import KafkaError
from kgroups.protocol.framing import decode_response, encode_request
from kgroups.protocol.versions import Api
from tests.fakes.oracle import build, read, request_type, response_type, write
from tests.property.strategies import SPOKEN, calls, damaged, entities, names

FEWER = settings(max_examples=max(10, settings.default.max_examples // 5))
every_version = pytest.mark.parametrize(
    ("api", "version"), SPOKEN, ids=[f"{api}-v{version}" for api, version in SPOKEN]
)

CANARY = """
import resource
from kgroups.errors import RemoteProtocolError
from tests.fakes.oracle import read, response_type
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
try:
    read(response_type(16, 0), bytes.fromhex("00007fffffff"))
except RemoteProtocolError:
    pass
"""


@pytest.fixture(scope="module")
def survives_absurd_lengths() -> None:
    """Rubbish can hold absurd lengths; where these abort the process, tests of rubbish would end the whole run."""
    done = subprocess.run([sys.executable, "-c", CANARY], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        pytest.fail(f"an absurd array length ends the process: {done.stderr[:200]}", pytrace=False)


def frame_of(response: Any) -> bytes:
    return write(build(type(response).__header_schema__, correlation_id=1)) + write(response)


@every_version
@FEWER
@given(data=st.data())
def test_request_matches_kio(api: Api, version: int, data: st.DataObject) -> None:
    frame = encode_request(data.draw(calls(api)), version, 7, data.draw(names))
    kind = request_type(api.key, version)
    header, offset = read(kind.__header_schema__, frame, 4)
    assert (header.request_api_key, header.request_api_version, header.correlation_id) == (api.key, version, 7)
    request, offset = read(kind, frame, offset)
    assert frame == len(frame[4:]).to_bytes(4, "big") + write(header) + write(request)


@every_version
@FEWER
@given(data=st.data())
def test_response_is_read_and_truncation_is_rejected(api: Api, version: int, data: st.DataObject) -> None:
    call = data.draw(calls(api))
    response = data.draw(entities(response_type(api.key, version)))
    frame = frame_of(response)
    assert reported(response) <= told_by(decode_response(call, version, frame))
    cut = data.draw(st.integers(4, len(frame) - 1))
    with pytest.raises(RemoteProtocolError):
        decode_response(call, version, frame[:cut])
    with pytest.raises(RemoteProtocolError):
        decode_response(call, version, frame + b"\0")


def reported(response: Any) -> set[str]:
    """The groups, or topics with partitions, that a response is about, whatever its shape."""
    if hasattr(response, "coordinators"):
        return {entry.key for entry in response.coordinators}
    if hasattr(response, "groups"):
        return {entry.group_id for entry in response.groups}
    if hasattr(response, "brokers"):
        return {entry.name for entry in response.topics if entry.name is not None}
    if type(response).__name__ == "DescribeConfigsResponse":
        refused = any(entry.error_code for entry in response.results)
        return set() if refused else {config.name for entry in response.results for config in entry.configs}
    if type(response).__name__ == "ListOffsetsResponse":
        return {entry.name for entry in response.topics if entry.partitions}
    if type(response).__name__ == "FetchResponse":
        return {
            entry.topic for entry in response.responses if entry.partitions and not getattr(response, "error_code", 0)
        }
    return set()


def told_by(parsed: Any) -> set[str]:
    """The same, of what we made of it."""
    if hasattr(parsed, "entries"):
        return {entry.group_id for entry in parsed.entries}
    if hasattr(parsed, "nodes"):
        return {entry.topic for entry in parsed.topics}
    if hasattr(parsed, "ranges") or hasattr(parsed, "error") or isinstance(parsed, KafkaError):
        return set()
    return {key if isinstance(key, str) else key[0] for key in parsed}


@pytest.mark.usefixtures("survives_absurd_lengths")
@every_version
@FEWER
@given(data=st.data())
def test_corrupt_response_raises_only_protocol_errors(api: Api, version: int, data: st.DataObject) -> None:
    call = data.draw(calls(api))
    answers = entities(response_type(api.key, version)).map(frame_of)
    rubbish = data.draw(st.binary(min_size=4, max_size=64) | damaged(answers).filter(lambda frame: len(frame) >= 4))
    with suppress(RemoteProtocolError):
        decode_response(call, version, rubbish)
