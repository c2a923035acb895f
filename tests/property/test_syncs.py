"""Translation by MirrorMaker 2's syncs, of generated copies: nothing is skipped, and MirrorMaker 2 is never better."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.translation.syncs import OffsetPair, SyncLog, SyncTranslation, translate_by_syncs
from tests.property.copied_topic import CopiedTopic

few, many = st.integers(1, 4), st.integers(1, 40)
USUAL = {
    "produce": many,
    "copy_records": many,
    "commit": few,
    "checkpoint": st.integers(0, 120),
    "skip": few,
    "mark": few,
    "crash": st.integers(0, 12),
}
LOSSES = {"recreate_source": many, "truncate": st.integers(0, 30), "compact_syncs": few}
lags = st.sampled_from((0, 5, 30, 1000))


def steps(*kinds: dict[str, st.SearchStrategy[int]]) -> st.SearchStrategy[list[tuple[str, int]]]:
    pairs = [st.tuples(st.just(name), amount) for kind in kinds for name, amount in kind.items()]
    # What makes a copy is there more often than what disturbs it.
    made = [st.tuples(st.just("produce"), many), st.tuples(st.just("copy_records"), many)]
    return st.lists(st.one_of(*pairs, *made, *made), min_size=4, max_size=25)


def run(lag: int, work: list[tuple[str, int]]) -> CopiedTopic:
    topic = CopiedTopic(lag)
    for name, amount in work:
        getattr(topic, name)(amount)
    return topic


def translate(topic: CopiedTopic, offset: int, *, thinned: bool = True) -> SyncTranslation | str:
    log = SyncLog([offset] if thinned else None)
    for each in topic.syncs:
        log.add(*each)
    return translate_by_syncs(log, topic.checkpoints, offset, OffsetPair(topic.end, len(topic.copy)))


def check(topic: CopiedTopic) -> None:
    for offset in range(topic.end + 2):
        found = translate(topic, offset)
        assert found == translate(topic, offset, thinned=False)
        if not isinstance(found, SyncTranslation):
            continue
        assert 0 <= found.offset <= len(topic.copy)
        assert not topic.skipped(offset, found.offset), (offset, found)
        assert topic.read_again(offset, found.offset) <= found.at_most, (offset, found)
        if topic.checkpoints and topic.complete and not topic.disturbed:
            theirs = topic.checkpoints[-1].downstream
            assert found.offset >= theirs or topic.skipped(offset, theirs), (offset, found)


@given(lags, steps(USUAL))
def test_translation_of_a_growing_copy_skips_nothing(lag: int, work: list[tuple[str, int]]) -> None:
    check(run(lag, work))


@given(lags, steps(USUAL, LOSSES))
def test_translation_after_losses_skips_nothing(lag: int, work: list[tuple[str, int]]) -> None:
    check(run(lag, work))
