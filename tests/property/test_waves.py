"""Waves against a naive search: the components, and how many parts with a topic are left without each item."""

from __future__ import annotations

import time
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.waves import Graph, Item, Kind, Link

Pairs = list[tuple[Item, Item]]


def names(kind: Kind, prefix: str = "") -> st.SearchStrategy[Item]:
    return st.integers(0, 7).map(lambda number: Item(kind, f"{prefix}{number}"))


@st.composite
def pairs(draw: st.DrawFn, prefix: str = "") -> Pairs:
    first = names(Kind.GROUP, prefix) | names(Kind.PRODUCER, prefix)
    found = draw(st.lists(st.tuples(first, names(Kind.TOPIC, prefix)), max_size=14))
    return found + draw(st.lists(st.tuples(names(Kind.PRODUCER, prefix), names(Kind.GROUP, prefix)), max_size=3))


def graph_of(items: Iterable[Item], links: Pairs) -> Graph:
    graph = Graph()
    graph.items.update(items)
    for first, second in links:
        graph.link(first, second, Link.COMMITTED)
    return graph


def components(items: set[Item], links: Pairs) -> set[frozenset[Item]]:
    """Merge sets until nothing changes."""
    found = {frozenset({item}) for item in items}
    for pair in links:
        joined = [part for part in found if not part.isdisjoint(pair)]
        found = found.difference(joined) | {frozenset().union(*joined)}
    return found


def parts_without(item: Item, wave: frozenset[Item], links: Pairs) -> int:
    rest = [pair for pair in links if item not in pair and pair[0] in wave]
    return sum(any(each.kind is Kind.TOPIC for each in part) for part in components(set(wave - {item}), rest))


@given(pairs(), st.lists(names(Kind.GROUP, "alone-"), max_size=3))
def test_waves_are_the_components_and_cuts_leave_most_parts(links: Pairs, alone: list[Item]) -> None:
    graph = graph_of(alone, links)
    waves = graph.waves()
    assert {frozenset(wave.items) for wave in waves} == components(graph.items, links)
    assert [wave.number for wave in waves] == list(range(1, len(waves) + 1))
    sizes = [len(list(wave.items)) for wave in waves]
    assert sizes == sorted(sizes, reverse=True)
    for wave in waves:
        whole = frozenset(wave.items)
        parts = {item: parts_without(item, whole, links) for item in whole}
        most = max(parts.values(), default=0)
        assert (wave.cut is None) == (most < 2)
        if wave.cut:
            order = (Kind.TOPIC, Kind.GROUP, Kind.PRODUCER)
            best = min((order.index(item.kind), item) for item, number in parts.items() if number == most)
            assert wave.cut == (best[1], most)


@given(pairs("a-"), pairs("b-"), pairs("c-"))
def test_planted_components_stay_apart(first: Pairs, second: Pairs, third: Pairs) -> None:
    waves = graph_of((), [*first, *second, *third]).waves()
    for wave in waves:
        assert len({item.name.partition("-")[0] for item in wave.items}) == 1


@given(pairs(), st.randoms(use_true_random=False))
def test_waves_do_not_depend_on_the_order_of_links(links: Pairs, random: object) -> None:
    shuffled = list(links)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert graph_of((), links).waves() == graph_of((), shuffled).waves()


@given(pairs(), names(Kind.TOPIC))
def test_ignored_items_join_nothing(links: Pairs, ignored: Item) -> None:
    graph = graph_of((), links)
    assert graph.without(lambda item: item == ignored) == (
        {ignored} if graph_of((), links).items & {ignored} else set()
    )
    kept = [pair for pair in links if ignored not in pair]
    everything = {item for pair in links for item in pair} - {ignored}
    assert {frozenset(wave.items) for wave in graph.waves()} == components(everything, kept)


def test_long_chain_and_large_hub_take_linear_time() -> None:
    def seconds(size: int) -> float:
        chain = [
            (Item(Kind.GROUP, f"g{at}"), Item(Kind.TOPIC, f"t{at + more}")) for at in range(size) for more in (0, 1)
        ]
        hub = [(Item(Kind.GROUP, f"h{at}"), Item(Kind.TOPIC, f"hub{at % 3}")) for at in range(size)]
        graph = graph_of((), chain + hub)
        began = time.process_time()
        waves = graph.waves()
        assert waves[0].cut == (Item(Kind.TOPIC, "t1"), 2)
        assert len(waves) == 4
        return time.process_time() - began

    small, large = min(seconds(2_000) for _ in range(3)), seconds(40_000)
    assert large < 200 * small  # 20 times as many items: in quadratic time, it would be 400 times as long
