"""DescribeClientQuotas (key 48): the quotas of users and client IDs (KIP-546, Kafka 2.6).

Requires DESCRIBE_CONFIGS on the cluster. v1 is the flexible form.
"""

from __future__ import annotations

from typing import NamedTuple

from kgroups.model.quotas import Quota

from ..error_codes import KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(48, "DescribeClientQuotas", 0, 1, flexible=1, throttled_from=0)

_NOT_STRICT = b"\0"


class DescribeClientQuotas(NamedTuple):
    """Request all quotas."""

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.array(()) + _NOT_STRICT + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> tuple[Quota, ...] | KafkaError:
        """Return the quotas, or the error of the broker."""
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            error, message = reader.int16(), reader.nullable_string()
            quotas = tuple([_quota(reader) for _ in reader.turns(reader.nullable_count() or 0)])
            reader.tags()
            reader.end()
        return kafka_error(error, message) if error else quotas


def _quota(reader: Reader) -> Quota:
    entity: dict[str, str | None] = {}
    for _ in reader.turns(reader.count()):
        kind, name = reader.string(), reader.nullable_string()
        reader.tags()
        entity[kind] = name
    limits: dict[str, float] = {}
    for _ in reader.turns(reader.count()):
        key, value = reader.string(), reader.float64()
        reader.tags()
        limits[key] = value
    reader.tags()
    return Quota(entity, limits)
