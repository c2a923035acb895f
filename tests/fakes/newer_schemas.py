"""Messages of Kafka 4.4 that kio does not have yet, in kio's form, so that it can read and write them.

``tests/integration/test_newer_schemas.py`` compares them with Kafka's own definitions.
"""

from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar

import kio.index
from kio.schema.delete_groups.v2 import request as delete_request
from kio.schema.delete_groups.v2 import response as delete_response
from kio.schema.streams_group_describe.v0 import request as streams_request
from kio.schema.streams_group_describe.v0 import response as streams_response
from kio.static.constants import EntityType
from kio.static.primitive import i8, i16

_TEXT = {"metadata": {"kafka_type": "string"}}
_NUMBER = {"metadata": {"kafka_type": "int8"}}


def _newer(older: type[Any], version: int, *more: tuple[str, Any, Any], **changed: Any) -> type[Any]:
    """The struct of the version before, with fields added at its end, or of other types."""
    kept = []
    for each in fields(older):
        again = field(metadata=each.metadata)
        again.default, again.default_factory = each.default, each.default_factory
        kept.append((each.name, changed.get(each.name, each.type), again))
    namespace = {
        name: getattr(older, name) for name in ("__type__", "__flexible__", "__api_key__", "__header_schema__")
    }
    made = make_dataclass(
        older.__name__, [*kept, *more], namespace=namespace | {"__version__": i16(version)}, frozen=True, kw_only=True
    )
    made.__module__ = __name__
    return made


class _Nested:
    __type__: ClassVar = EntityType.nested
    __version__: ClassVar = i16(1)
    __flexible__: ClassVar = True
    __api_key__: ClassVar = i16(89)
    __header_schema__: ClassVar = streams_response.DescribedGroup.__header_schema__


@dataclass(frozen=True, kw_only=True)
class TopologyDescriptionNode(_Nested):
    name: str = field(**_TEXT)  # type: ignore[arg-type]
    node_type: i8 = field(**_NUMBER)  # type: ignore[arg-type]
    source_topics: tuple[str, ...] = field(**_TEXT)  # type: ignore[arg-type]
    sink_topic: str | None = field(**_TEXT)  # type: ignore[arg-type]
    stores: tuple[str, ...] = field(**_TEXT)  # type: ignore[arg-type]
    successors: tuple[str, ...] = field(**_TEXT)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class TopologyDescriptionSubtopology(_Nested):
    subtopology_id: str = field(**_TEXT)  # type: ignore[arg-type]
    nodes: tuple[TopologyDescriptionNode, ...]


@dataclass(frozen=True, kw_only=True)
class TopologyDescriptionGlobalStore(_Nested):
    source: TopologyDescriptionNode
    processor: TopologyDescriptionNode


@dataclass(frozen=True, kw_only=True)
class TopologyDescription(_Nested):
    subtopologies: tuple[TopologyDescriptionSubtopology, ...]
    global_stores: tuple[TopologyDescriptionGlobalStore, ...]


KeyValue, TopicInfo, Subtopology = streams_response.KeyValue, streams_response.TopicInfo, streams_response.Subtopology
Topology, Endpoint, TaskOffset = streams_response.Topology, streams_response.Endpoint, streams_response.TaskOffset
TaskIds, Assignment, Member = streams_response.TaskIds, streams_response.Assignment, streams_response.Member

DescribedGroup = _newer(
    streams_response.DescribedGroup,
    1,
    ("topology_description", TopologyDescription | None, field(default=None)),
    ("topology_description_status", i8, field(**_NUMBER, default=i8(0))),
    ("assignor_name", str | None, field(**_TEXT, default=None)),
)
StreamsGroupDescribeResponse = _newer(
    streams_response.StreamsGroupDescribeResponse,
    1,
    groups=tuple[DescribedGroup, ...],  # type: ignore[valid-type]
)
StreamsGroupDescribeRequest = _newer(
    streams_request.StreamsGroupDescribeRequest,
    1,
    ("include_topology_description", bool, field(metadata={"kafka_type": "bool"}, default=False)),
)
DeletableGroupResult = _newer(
    delete_response.DeletableGroupResult, 3, ("error_message", str | None, field(**_TEXT, default=None))
)
DeleteGroupsResponse = _newer(
    delete_response.DeleteGroupsResponse,
    3,
    results=tuple[DeletableGroupResult, ...],  # type: ignore[valid-type]
)
DeleteGroupsRequest = _newer(delete_request.DeleteGroupsRequest, 3)


def _register() -> None:
    index: Any = kio.index
    known: dict[str, Any] = dict(index.schema_name_map)
    for name, version in (("delete_groups", 3), ("streams_group_describe", 1)):
        words = "".join(word.title() for word in name.split("_"))
        paths = {kind: f"{__name__}:{words}{kind.name.title()}" for kind in (EntityType.request, EntityType.response)}
        known[name] = {**known[name], version: paths}
    index.schema_name_map = known


_register()
