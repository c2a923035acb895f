"""The throttle time of every response, compared with kio."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.protocol.apis import api_versions
from kgroups.protocol.versions import Api
from tests.fakes.oracle import build, response_type, write
from tests.property.strategies import CALLS, SPOKEN, entities

PAUSES = st.integers(0, 2**31 - 1)


@pytest.mark.parametrize(
    ("api", "version"), [pytest.param(*spoken, id=f"{spoken[0]}-v{spoken[1]}") for spoken in SPOKEN]
)
@settings(max_examples=10)
@given(data=st.data(), milliseconds=PAUSES)
def test_throttle_time_is_read_from_every_response(
    api: Api, version: int, data: st.DataObject, milliseconds: int
) -> None:
    response = data.draw(entities(response_type(api.key, version)))
    throttles = hasattr(response, "throttle_time")
    if throttles:
        response = replace(response, throttle_time=timedelta(milliseconds=milliseconds))
    frame = write(build(type(response).__header_schema__, correlation_id=1)) + write(response)
    before = api.throttled_from is not None and version >= api.throttled_from
    assert api.pause_of(version, frame) == (milliseconds / 1000 if before else 0)
    assert throttles or not before


def names(api: Api) -> set[str]:
    return {field.name for field in fields(response_type(api.key, api.newest))}


def test_every_api_with_throttle_time_is_known() -> None:
    throttled = {api for api in CALLS if "throttle_time" in names(api)}
    assert throttled - {api_versions.API} == {api for api in CALLS if api.throttled_from is not None}
