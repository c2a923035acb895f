"""The rows of ``kgroups waves``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ..counts import count
from ..listed import ValueList
from ..waves import Graph, Item, Link, Wave


class WaveRow(NamedTuple):
    """One wave. ``cut`` is the item without which it falls into most parts, at least two."""

    wave: int
    groups: int
    topics: int
    producers: int
    cut_kind: str | None
    cut: str | None
    cut_parts: int | None
    group_names: ValueList
    topic_names: ValueList
    producer_names: ValueList
    note: str | None = None


class WaveItemRow(NamedTuple):
    """One group, topic, or producer; ``links`` is the number of others that it is linked with."""

    wave: int
    kind: str
    name: str
    links: int
    note: str | None = None


class WaveLinkRow(NamedTuple):
    """One link: of a group with a topic, or of a producer with a topic or a group."""

    wave: int
    kind: str
    name: str
    linked_kind: str
    linked: str
    why: ValueList


class Waves(NamedTuple):
    """The selected waves of a cluster, with the graph of all, and notes about items."""

    waves: tuple[Wave, ...]
    graph: Graph
    notes: Mapping[Item, str]


def wave_rows(found: Waves, names: Callable[[tuple[str, ...]], ValueList] = ValueList) -> Iterator[WaveRow]:
    """Yield a row for each wave.

    :param names: returns the names to show.
    """
    inferred = _inferred(found)
    for wave in found.waves:
        texts = [f"{item.kind} {item.name}: {found.notes[item]}" for item in wave.items if item in found.notes]
        if number := inferred.get(wave.number):
            texts.append(f"inferred from names: {count(number, 'link')}")
        cut = wave.cut
        if (more := len(texts) - _MOST_NOTES) > 0:
            texts[_MOST_NOTES:] = [f"… and {more:,} more"]
        yield WaveRow(
            wave=wave.number,
            groups=len(wave.groups),
            topics=len(wave.topics),
            producers=len(wave.producers),
            cut_kind=cut.item.kind.value if cut else None,
            cut=cut.item.name if cut else None,
            cut_parts=cut.parts if cut else None,
            group_names=names(wave.groups),
            topic_names=names(wave.topics),
            producer_names=names(wave.producers),
            note="; ".join(texts) or None,
        )


_MOST_NOTES = 3


def _inferred(found: Waves) -> Mapping[int, int]:
    numbers: dict[int, int] = {}
    for number, _, why in links_by_wave(found):
        if why == {Link.INFERRED}:
            numbers[number] = numbers.get(number, 0) + 1
    return numbers


def wave_item_rows(found: Waves) -> Iterator[WaveItemRow]:
    """Yield a row for each item of the waves."""
    numbers: dict[Item, int] = {}
    for pair in found.graph.links:
        for item in pair:
            numbers[item] = numbers.get(item, 0) + 1
    for wave in found.waves:
        for item in wave.items:
            yield WaveItemRow(wave.number, item.kind.value, item.name, numbers.get(item, 0), found.notes.get(item))


def wave_link_rows(found: Waves) -> Iterator[WaveLinkRow]:
    """Yield a row for each link of the waves."""
    for number, (first, second), why in links_by_wave(found):
        reasons = ValueList(each.value for each in Link if each in why)
        yield WaveLinkRow(number, first.kind.value, first.name, second.kind.value, second.name, reasons)


def links_by_wave(found: Waves) -> Iterable[tuple[int, tuple[Item, Item], set[Link]]]:
    """Return the links of the selected waves, each with the number of its wave, sorted."""
    numbers = {item: wave.number for wave in found.waves for item in wave.items}
    links = found.graph.links
    return sorted((numbers[pair[0]], pair, why) for pair, why in links.items() if pair[0] in numbers)
