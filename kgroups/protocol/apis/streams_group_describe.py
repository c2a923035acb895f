"""StreamsGroupDescribe (key 89): state, epochs, topology, and tasks of streams groups, several per request (KIP-1071).

v0  Kafka 4.1; a group of another type is GROUP_ID_NOT_FOUND
v1  the assignor; on request the nodes of the topology, if a broker plugin stores them (KIP-1331, Kafka 4.4)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.assignment import Assignment, Subscription
from kgroups.model.groups import GroupId, Member
from kgroups.model.streams import (
    AssignedTasks,
    GlobalStore,
    InternalTopic,
    Nodes,
    Pairs,
    ProcessingNode,
    StreamsMember,
    Subtopology,
    SubtopologyTasks,
    Tasks,
    Topology,
    TopologyNodes,
    TopologyStatus,
)

from ..error_codes import KafkaError, kafka_error
from ..group_description import prefer_descriptions
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(89, "StreamsGroupDescribe", 0, 1, flexible=0, throttled_from=0)

NODES = 1
"""The first version with the assignor and the nodes of a topology."""

_NO, _YES = b"\0", b"\1"
_ABSENT, _PRESENT = -1, 1


class StreamsGroup(NamedTuple):
    """A streams group as its coordinator describes it."""

    group_id: GroupId
    state: str
    group_epoch: int
    assignment_epoch: int
    topology: Topology | None
    members: tuple[Member, ...]
    assignor: str | None = None


class StreamsGroupDescribe(NamedTuple):
    """Describe these streams groups."""

    groups: tuple[GroupId, ...]
    nodes: bool = False
    """Also request the nodes of their topologies."""

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        nodes = b"" if version < NODES else _YES if self.nodes else _NO
        return form.array(map(form.string, self.groups)) + _NO + nodes + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, StreamsGroup | KafkaError]:
        """Return group -> its description, or its error; a description takes precedence over an error."""
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            groups = [_group(reader, version) for _ in reader.turns(reader.count())]
            reader.tags()
            reader.end()
        return prefer_descriptions(groups)


def _group(reader: Reader, version: int) -> tuple[GroupId, StreamsGroup | KafkaError]:
    error, message, name, state = reader.int16(), reader.nullable_string(), reader.string(), reader.string()
    epoch, assignment_epoch = reader.int32(), reader.int32()
    topology = _topology(reader) if _is_present(reader) else None
    members = tuple([_member(reader) for _ in reader.turns(reader.count())])
    reader.skip(4)  # authorized operations
    assignor = None
    if version >= NODES:
        nodes = _nodes_of_topology(reader)
        topology = topology and topology._replace(nodes=nodes)
        assignor = reader.nullable_string()
    reader.tags()
    if error:
        return name, kafka_error(error, message)
    return name, StreamsGroup(name, state, epoch, assignment_epoch, topology, members, assignor)


def _nodes_of_topology(reader: Reader) -> TopologyNodes:
    subtopologies: tuple[tuple[str, Nodes], ...] = ()
    stores: tuple[GlobalStore, ...] = ()
    if _is_present(reader):
        subtopologies = tuple([_nodes_of_subtopology(reader) for _ in reader.turns(reader.count())])
        stores = tuple([_global_store(reader) for _ in reader.turns(reader.count())])
        reader.tags()
    return TopologyNodes(TopologyStatus(reader.int8()), subtopologies, stores)


def _nodes_of_subtopology(reader: Reader) -> tuple[str, Nodes]:
    entry = reader.string(), Nodes([_node(reader) for _ in reader.turns(reader.count())])
    reader.tags()
    return entry


def _global_store(reader: Reader) -> GlobalStore:
    store = GlobalStore(_node(reader), _node(reader))
    reader.tags()
    return store


def _node(reader: Reader) -> ProcessingNode:
    node = ProcessingNode(
        reader.string(), reader.int8(), _strings(reader), reader.nullable_string(), _strings(reader), _strings(reader)
    )
    reader.tags()
    return node


def _is_present(reader: Reader) -> bool:
    """Return whether an optional struct follows.

    :raises ValueError: for a byte that means neither.
    """
    mark = reader.int8()
    if mark not in (_ABSENT, _PRESENT):
        raise ValueError(f"invalid mark {mark} of an optional struct")
    return mark == _PRESENT


def _topology(reader: Reader) -> Topology:
    epoch, count = reader.int32(), reader.nullable_count()
    parts = None if count is None else tuple([_subtopology(reader) for _ in reader.turns(count)])
    reader.tags()
    return Topology(epoch, parts)


def _subtopology(reader: Reader) -> Subtopology:
    name, sources, sinks = reader.string(), _strings(reader), _strings(reader)
    changelogs, repartitions = _topics(reader), _topics(reader)
    reader.tags()
    return Subtopology(name, sources, repartitions, sinks, changelogs)


def _strings(reader: Reader) -> tuple[str, ...]:
    return tuple([reader.string() for _ in reader.turns(reader.count())])


def _topics(reader: Reader) -> tuple[InternalTopic, ...]:
    return tuple([_topic(reader) for _ in reader.turns(reader.count())])


def _topic(reader: Reader) -> InternalTopic:
    name, partitions, replication = reader.string(), reader.int32(), reader.int16()
    configs = _pairs(reader)
    reader.tags()
    return InternalTopic(name, partitions, replication, configs)


def _pairs(reader: Reader) -> Pairs:
    return Pairs(sorted([_pair(reader) for _ in reader.turns(reader.count())]))


def _pair(reader: Reader) -> tuple[str, str]:
    pair = reader.string(), reader.string()
    reader.tags()
    return pair


def _member(reader: Reader) -> Member:
    member_id, epoch = reader.string(), reader.int32()
    instance_id, rack_id = reader.nullable_string(), reader.nullable_string()
    client_id, host = reader.string(), reader.string()
    topology_epoch, process = reader.int32(), reader.string()
    endpoint = _endpoint(reader) if _is_present(reader) else None
    tags = _pairs(reader)
    for _ in range(2):  # offsets and end offsets of the tasks' states; not used
        _skip_task_offsets(reader)
    tasks, target = _assigned(reader), _assigned(reader)
    classic = reader.int8() != 0
    reader.tags()
    return Member(
        member_id=member_id,
        client_id=client_id,
        host=host,
        assignment=Assignment(),
        instance_id=instance_id,
        rack_id=rack_id,
        subscription=Subscription(),
        member_epoch=epoch,
        target=Assignment(),
        upgraded=not classic,
        streams=StreamsMember(process, topology_epoch, tasks, target, classic, endpoint, tags),
    )


def _endpoint(reader: Reader) -> str:
    host, port = reader.string(), reader.int16() & 0xFFFF
    reader.tags()
    return f"{host}:{port}"


def _skip_task_offsets(reader: Reader) -> None:
    for _ in reader.turns(reader.count()):
        reader.string()
        reader.skip(12)
        reader.tags()


def _assigned(reader: Reader) -> AssignedTasks:
    assigned = AssignedTasks(_tasks(reader), _tasks(reader), _tasks(reader))
    reader.tags()
    return assigned


def _tasks(reader: Reader) -> Tasks:
    return Tasks(tuple(sorted([_of_subtopology(reader) for _ in reader.turns(reader.count())])))


def _of_subtopology(reader: Reader) -> SubtopologyTasks:
    entry = SubtopologyTasks(reader.string(), tuple(sorted(reader.int32s())))
    reader.tags()
    return entry
