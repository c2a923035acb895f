"""What clients put into group metadata, read by us and by Kafka's own classes: the same, of bytes that Kafka makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from kgroups.model.assignment import Raw
from kgroups.model.embedded.sticky import StickyData
from kgroups.protocol.embedded import classic_streams, connect, consumer, sticky

from .embedded_oracle import (
    Decoded,
    ask_kafka,
    of_assignment,
    of_sticky,
    of_streams_assignment,
    of_streams_subscription,
    of_subscription,
    of_work,
    of_worker,
)

EACH: Final = 300


def _inside(found: Any) -> Any:
    return found.raw or found.user_data


READERS: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], dict[str, Any]]]] = {
    "subscription": (lambda data: _or_raw(consumer.decode_subscription(data)), of_subscription),
    "assignment": (lambda data: _or_raw(consumer.decode_assignment(data)), of_assignment),
    "sticky": (sticky.decode_sticky, of_sticky),
    "cooperative": (sticky.decode_cooperative, of_sticky),
    "connect-metadata": (lambda data: _inside(connect.decode_worker(data, "")), of_worker),
    "connect-assignment": (lambda data: _inside(connect.decode_work(data, "")), of_work),
    "streams-subscription": (classic_streams.decode_subscription_info, of_streams_subscription),
    "streams-assignment": (classic_streams.decode_assignment_info, of_streams_assignment),
}


def _or_raw(found: Any) -> Any:
    return found.raw or found


def agree(each: Decoded) -> bool:
    """Bytes that Kafka reads give equal values; bytes that it rejects may be read partly, with a note."""
    read, as_values = READERS[each.kind]
    found = read(each.data)
    if each.values is None or not each.data:
        return True
    if each.values == NOTHING:  # Java's word for what it could not read, too
        return isinstance(found, Raw) or not as_values(found)["previous"]
    if each.kind == "cooperative" and isinstance(found, StickyData) and found.previous is not None:
        return len(each.data) > 4  # as librdkafka writes it, of which Java takes a count for a generation
    return not isinstance(found, Raw) and as_values(found) == each.values


NOTHING: Final = {"previous": [], "generation": -1}


@pytest.mark.usefixtures("jdk")
def test_embedded_bytes_are_decoded_like_kafka(tmp_path: Path) -> None:
    answers = ask_kafka((), tmp_path, more=EACH, seed=7)
    read = Counter(each.kind for each in answers if each.values is not None)
    assert set(read) == set(READERS) and min(read.values()) >= EACH
    assert [each for each in answers if not agree(each)] == []
