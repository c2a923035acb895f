"""DescribeLogDirs (key 35): the topics of which a broker has replicas, also without DESCRIBE on them.

Requires only DESCRIBE on CLUSTER.

v1  same form as v0 (Kafka 2.0)
v2  flexible form
v3  an error code for the whole response (Kafka 3.2); before, no log directory at all means "not authorized"
v4  size of the volume
"""

from __future__ import annotations

from typing import NamedTuple

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(35, "DescribeLogDirs", 1, 4, flexible=2)

_ERROR, _VOLUME = 3, 4
"""The first version that has each."""


class DescribeLogDirs(NamedTuple):
    """Request the topics of which the broker has replicas."""

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 0

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.null_array + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> frozenset[str] | KafkaError:
        """Return the names of the topics, or the error of the response or of any log directory."""
        topics: set[str] = set()
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            errors = [reader.int16()] if version >= _ERROR else []
            count = reader.count()
            errors += [_directory(reader, version, topics) for _ in reader.turns(count)]
            reader.tags()
            reader.end()
        if error := next(filter(None, errors), None):
            return kafka_error(error)
        return frozenset(topics) if count else kafka_error(Code.cluster_authorization_failed)


def _directory(reader: Reader, version: int, topics: set[str]) -> int:
    error = reader.int16()
    reader.string()  # path
    for _ in reader.turns(reader.count()):
        topics.add(reader.string())
        for _ in reader.turns(reader.count()):
            reader.skip(21)  # partition, size, lag, whether it is to replace another replica
            reader.tags()
        reader.tags()
    if version >= _VOLUME:
        reader.skip(16)
    reader.tags()
    return error
