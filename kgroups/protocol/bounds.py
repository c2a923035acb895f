"""Whether the arrays that a message announces can be in it at all; asked before kio reads the message.

Rule: no array may announce more elements than bytes are left. kio's native reader reserves eight bytes for each
announced element before it reads the first: a corrupt length reserves up to 256 GB, and where the system refuses
that, the whole process is aborted, with no exception to catch. And no array may be null that Kafka's definition
does not allow to be: kio gives ``None`` for it.

Strategy: a function is generated for each entity type that steps over the type's bytes and looks at lengths only.
Generated, because every commit of every group passes here: about 0.3 µs each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

from kgroups.errors import RemoteProtocolError

Skip = Callable[[bytes, int, int], int]
"""Given the bytes, an offset and the size of the whole: the offset behind what stands there."""

_FIXED = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "error_code": 2,
    "int32": 4,
    "uint32": 4,
    "timedelta_i32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "timedelta_i64": 8,
    "datetime_i64": 8,
    "uuid": 16,
}


@cache
def bounded(entity_type: Any) -> Skip:
    """Steps over an entity of that type.

    :raises RemoteProtocolError: (the function given) when an array announces more than there can be.
    :raises IndexError: (the function given) when the bytes end too soon.
    """
    known: dict[str, Any] = {"varint": _varint, "tags": _tags, "absurd": _absurd}
    lines = ["def skip(data, at, size):"]
    pending = 0
    tagged: dict[int, Skip] = {}
    for field in fields(entity_type):
        if "tag" in field.metadata:
            tagged[field.metadata["tag"]] = _alone(entity_type, field)
            continue
        kind, many = _kind(field)
        width = _FIXED.get(kind, 0) if isinstance(kind, str) else 0
        if width and not many:
            pending += width
            continue
        lines += _step(pending)
        pending = 0
        if not isinstance(kind, str):
            known[f"skip_{field.name}"] = bounded(kind)
        # The client id in a request's header is a string of the old form in every version.
        flexible = entity_type.__flexible__ and entity_type.__name__ != "RequestHeader"
        lines += _array(field, kind, width, flexible) if many else _single(field, kind, flexible)
    lines += _step(pending)
    if entity_type.__flexible__:
        known["tagged"] = tagged
        lines += ["    at = tags(data, at, size, tagged) if data[at] else at + 1"]
    lines += ["    if at > size: raise IndexError('the message ends too soon')", "    return at"]
    exec("\n".join(lines), known)
    made: Skip = known["skip"]
    return made


def _kind(field: Field[Any]) -> tuple[Any, bool]:
    """The Kafka type of a field, a string, or the entity type; and whether it is an array of them."""
    declared: Any = field.type
    many = False
    if _optional(field):
        declared = next(kind for kind in get_args(declared) if kind is not type(None))
    if get_origin(declared) is tuple:
        declared, many = get_args(declared)[0], True
    return (declared if is_dataclass(declared) else field.metadata["kafka_type"]), many


def _optional(field: Field[Any]) -> bool:
    return get_origin(field.type) in (UnionType, Union)


def _step(width: int) -> Iterator[str]:
    if width:
        yield f"    at += {width}"


def _single(field: Field[Any], kind: Any, flexible: bool) -> Iterator[str]:
    if not isinstance(kind, str):
        if _optional(field):  # a nullable struct is led by a byte (KIP-893)
            yield "    at += 1"
            yield f"    if data[at - 1] < 128: at = skip_{field.name}(data, at, size)"
        else:
            yield f"    at = skip_{field.name}(data, at, size)"
    else:
        yield from _length("n", flexible, 2 if kind == "string" else 4, "    ")
        yield "    if n > 0: at += n"


def _array(field: Field[Any], kind: Any, width: int, flexible: bool) -> Iterator[str]:
    yield from _length("count", flexible, 4, "    ")
    least = -1 if _optional(field) else 0
    yield f"    if not {least} <= count <= size - at: absurd(count, size - at)"
    if width:
        yield f"    if count > 0: at += count * {width}"
        return
    yield "    for _ in range(count):"
    if not isinstance(kind, str):
        yield f"        at = skip_{field.name}(data, at, size)"
    else:
        yield from _length("n", flexible, 2 if kind == "string" else 4, "        ")
        yield "        if n > 0: at += n"


def _length(into: str, flexible: bool, width: int, indent: str) -> Iterator[str]:
    """Reads the length of a string, of bytes or of an array; -1 is null."""
    if flexible:
        yield f"{indent}{into} = data[at] - 1"
        yield f"{indent}at += 1"
        yield f"{indent}if {into} >= 127: {into}, at = varint(data, at - 1)"
    else:
        yield f"{indent}{into} = int.from_bytes(data[at : at + {width}], 'big', signed=True)"
        yield f"{indent}at += {width}"


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A length of more than one byte, less one, and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value - 1, at
        if shift > 63:
            raise RemoteProtocolError("a length of more than nine bytes")


def _tags(data: bytes, at: int, size: int, tagged: Mapping[int, Skip]) -> int:
    """Steps over tagged fields, and looks into those that kio will read."""
    count, at = _varint(data, at)
    for _ in range(count + 1):
        tag, at = _varint(data, at)
        length, at = _varint(data, at)
        end = at + length + 1
        if tag + 1 in tagged and (end > size or tagged[tag + 1](data, at, end) != end):
            raise RemoteProtocolError(f"tagged field {tag + 1} does not fit its length")
        at = end
    return at


def _alone(entity_type: type[Any], field: Field[Any]) -> Skip:
    """Steps over one tagged field."""
    kind, many = _kind(field)
    if isinstance(kind, str) and not many:
        return lambda data, at, size: size  # nothing is reserved for it
    lines = ["def skip(data, at, size):"]
    width = _FIXED.get(kind, 0) if isinstance(kind, str) else 0
    known: dict[str, Any] = {"varint": _varint, "absurd": _absurd}
    if not isinstance(kind, str):
        known[f"skip_{field.name}"] = bounded(kind)
    lines += _array(field, kind, width, True) if many else _single(field, kind, True)
    exec("\n".join([*lines, "    return at"]), known)
    made: Skip = known["skip"]
    return made


def _absurd(count: int, left: int) -> None:
    raise RemoteProtocolError(f"an array of {count} elements is announced in {left} bytes")
