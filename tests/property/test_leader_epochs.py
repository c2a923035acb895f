"""Leader epochs of offsets, compared with generated logs whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.admin.query.leader_epochs import EpochAt, epochs_in_log, logs_kept
from kgroups.admin.wire import WireClient
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster

Log = tuple[int, dict[int, int], int]
"""Start, epochs with the offsets at which they begin, and end."""


@st.composite
def logs(draw: st.DrawFn) -> Log:
    start = draw(st.integers(0, 20))
    epochs = sorted(draw(st.sets(st.integers(0, 12), min_size=1, max_size=5)))
    later = st.sets(st.integers(start + 1, start + 30), min_size=len(epochs) - 1, max_size=len(epochs) - 1)
    begins = [start, *sorted(draw(later))]
    return start, dict(zip(epochs, begins, strict=True)), draw(st.integers(begins[-1], begins[-1] + 10))


def has(log: Log, offset: int, epoch: int) -> bool:
    """Whether a consumer of this log can have the epoch after it has read the records before the offset."""
    start, epochs, end = log
    if epoch < min(epochs):
        return offset <= start  # its records were deleted
    if epoch not in epochs:
        return False
    nexts = [begin for each, begin in epochs.items() if each > epoch]
    first = epoch == min(epochs)
    return (first or epochs[epoch] <= offset) and offset <= min([*nexts, end])


def kept(log: Log, offset: int, epoch: int) -> bool:
    _, epochs, end = log
    nexts = [begin for each, begin in epochs.items() if each > epoch]
    return epoch in epochs and offset <= min([*nexts, end])


@settings(max_examples=30)
@given(st.lists(logs(), min_size=1, max_size=20), st.data())
def test_epochs_are_judged_as_the_generated_logs_are(made: list[Log], data: st.DataObject) -> None:
    fake = FakeCluster(2, "4.3.1")
    wanted = {}
    for number, log in enumerate(made):
        start, epochs, end = log
        topic = fake.state.topic(f"t-{number}", [number % 2], start=start, end=end, epoch=max(epochs))
        topic.history = {0: epochs}
        for _ in range(3):
            at = EpochAt(topic.name, 0, data.draw(st.integers(0, end + 5)), data.draw(st.integers(0, 14)))
            wanted[at] = log

    async def both(admin: WireClient) -> tuple[Mapping[EpochAt, bool], Mapping[EpochAt, bool]]:
        return await epochs_in_log(admin.cluster, wanted), await logs_kept(admin.cluster, wanted)

    in_log, same = ask(fake, both)
    for at, log in wanted.items():
        assert in_log[at] == has(log, at.offset, at.epoch), (at, log)
        # An epoch below the first one of a log is reported as if it ended there.
        if at.epoch >= min(log[1]):
            assert same[at] == kept(log, at.offset, at.epoch), (at, log)
