"""DescribeLogDirs (key 35): the partitions of which a broker has replicas, also without DESCRIBE on their topics.

Requires only DESCRIBE on CLUSTER.

v1  same form as v0 (Kafka 2.0)
v2  flexible form
v3  an error code for the whole response (Kafka 3.2); before, no log directory at all means "not authorized"
v4  size of the volume
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of, int32

API = Api(35, "DescribeLogDirs", 1, 4, flexible=2, waits=True, throttled_from=1)

_ERROR, _VOLUME = 3, 4
"""The first version that has each."""


Sizes = dict[tuple[str, int], int]
"""(topic, partition) -> the size of its log, in bytes."""


class DescribeLogDirs(NamedTuple):
    """Request the sizes of these logs, topic -> partitions; ``None``: of all logs that the broker has."""

    partitions: Mapping[str, Iterable[int]] | None = None

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.partitions or ())

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        if self.partitions is None:
            return form.null_array + form.tags
        topics = form.array(
            form.string(topic) + form.array(map(int32, numbers)) + form.tags
            for topic, numbers in self.partitions.items()
        )
        return topics + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Sizes | KafkaError:
        """Return the sizes, or the error of the response or of any log directory.

        A replica that is being moved to another directory has the size of the replica in use.
        """
        sizes: Sizes = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            errors = [reader.int16()] if version >= _ERROR else []
            count = reader.count()
            errors += [_directory(reader, version, sizes) for _ in reader.turns(count)]
            reader.tags()
            reader.end()
        if error := next(filter(None, errors), None):
            return kafka_error(error)
        return sizes if count else kafka_error(Code.cluster_authorization_failed)


def _directory(reader: Reader, version: int, sizes: Sizes) -> int:
    error = reader.int16()
    reader.string()  # path
    for _ in reader.turns(reader.count()):
        topic = reader.string()
        for _ in reader.turns(reader.count()):
            partition, size = reader.int32(), reader.int64()
            reader.skip(8)  # lag
            if not reader.int8():  # whether it is to replace another replica
                sizes[topic, partition] = size
            reader.tags()
        reader.tags()
    if version >= _VOLUME:
        reader.skip(16)
    reader.tags()
    return error
