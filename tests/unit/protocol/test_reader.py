from __future__ import annotations

import pytest

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.reader import FlexibleReader, Reader, Seen


def words(reader: Reader) -> tuple[str, int]:
    return reader.string(), reader.int8()


def test_repeated_values_are_decoded_once() -> None:
    kinds = [b"\3ab" + bytes((number,)) for number in range(20)]
    read = 0

    def counted(reader: Reader) -> tuple[str, int]:
        nonlocal read
        read += 1
        return words(reader)

    seen: Seen[tuple[str, int]] = []
    with FlexibleReader("it", b"".join(kinds + kinds), 0) as reader:
        assert [reader.repeated(seen, counted) for _ in range(40)] == 2 * [("ab", number) for number in range(20)]
        reader.end()
    assert read == 40 - len(seen) and 0 < len(seen) < 20


@pytest.mark.parametrize("data", [b"\3ab\1\3ab", b"\3ab\1\3a", b"\3ab\1\3", b"\3ab\1", b"\3ab", b""])
def test_repeated_value_that_is_truncated_is_an_error(data: bytes) -> None:
    seen: Seen[tuple[str, int]] = []
    with pytest.raises(RemoteProtocolError, match="ends too soon"), FlexibleReader("it", data, 0) as reader:
        for _ in range(2):
            reader.repeated(seen, words)
        reader.end()


@pytest.mark.parametrize(
    ("form", "two", "none", "null"),
    [(Reader, b"\0\0\0\2", b"\0\0\0\0", b"\xff\xff\xff\xff"), (FlexibleReader, b"\3", b"\1", b"\0")],
    ids=["old", "flexible"],
)
def test_binary_and_int32s_of_both_encodings(form: type[Reader], two: bytes, none: bytes, null: bytes) -> None:
    numbers = b"\0\0\0\1\xff\xff\xff\xff"
    with form("it", two + b"ab" + null + none + two + numbers + none, 0) as reader:
        assert (reader.binary(), reader.nullable_bytes(), reader.binary()) == (b"ab", None, b"")
        assert (reader.int32s(), reader.int32s()) == ((1, -1), ())
        reader.end()
    for data, read in ((null, form.binary), (null, form.int32s), (two + numbers[:7], form.int32s)):
        with pytest.raises(RemoteProtocolError), form("it", data, 0) as reader:
            read(reader)


def test_int8_is_signed() -> None:
    with Reader("it", b"\x7f\x80\xff", 0) as reader:
        assert [reader.int8() for _ in range(3)] == [127, -128, -1]
