"""Generated queries: whatever a query writes and deletes while its checkpoint is read, no position is too far."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kgroups.admin.positions.checkpoint import Checkpoint
from kgroups.errors import PositionsError
from tests.fakes.spark_checkpoint import FakeCheckpoint

Position = dict[tuple[str, int], int]
OTHERS = ['{"logOffset":7}', "12", None, '{"shards":{"x":"y"}}', '{"a":1}']


class Query:
    """A query whose batches are generated; ``steps`` runs it, one file after the other."""

    def __init__(self, folder: Path, data: st.DataObject) -> None:
        self._data = data
        self.version = data.draw(st.sampled_from([1, 2]))
        self._sources = data.draw(st.lists(st.sampled_from(["kafka", "other"]), min_size=1, max_size=3))
        if "kafka" not in self._sources:
            self._sources.append("kafka")
        self._ends: list[Any] = [
            {f"t{number}": {at: data.draw(st.integers(0, 50)) for at in range(data.draw(st.integers(1, 3)))}}
            if kind == "kafka"
            else data.draw(st.sampled_from(OTHERS))
            for number, kind in enumerate(self._sources)
        ]
        self.fake = FakeCheckpoint(folder, version=self.version, commits=data.draw(st.sampled_from([1, 2, 3])))
        self.starts = {
            number for number, kind in enumerate(self._sources) if kind == "kafka" and data.draw(st.booleans())
        }
        for number in self.starts:
            self.fake.start(number, self._ends[number])
        self.committed = -1
        self.planned = -1
        self.complete: Position = self._position() if self._all_started() else {}
        self.ends: dict[int, Position] = {-1: self.complete}
        self.steps = self._run(data.draw(st.integers(0, 3)))

    def _all_started(self) -> bool:
        return all(number in self.starts for number, kind in enumerate(self._sources) if kind == "kafka")

    def _position(self) -> Position:
        found: Position = {}
        for ends in self._ends:
            for topic, partitions in ends.items() if isinstance(ends, dict) else ():
                found.update({(topic, at): end for at, end in partitions.items()})
        return found

    def _run(self, batch: int) -> Iterator[None]:
        while True:
            for ends in self._ends:
                for partitions in ends.values() if isinstance(ends, dict) else ():
                    if self._data.draw(st.integers(0, 4)) == 0:
                        partitions[len(partitions)] = 0  # a new partition
                    for at in partitions:
                        partitions[at] += self._data.draw(st.integers(0, 9))
            self.ends[batch] = self._position()
            self.fake.plan(batch, *self._ends)
            self.planned = batch
            yield
            self.fake.complete(batch)
            self.committed = batch
            yield
            if self._data.draw(st.booleans()):
                self.fake.purge(batch - self._data.draw(st.integers(0, 2)))
                yield
            batch += self._data.draw(st.sampled_from([1, 1, 1, 4]))  # more: asynchronous progress tracking

    def run(self, steps: int) -> None:
        for _ in range(steps):
            next(self.steps)


@given(st.data())
def test_position_is_the_end_of_the_last_complete_batch(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        query = Query(Path(folder), data)
        query.run(data.draw(st.integers(0, 12)))
        if query.planned == -1:
            assert Checkpoint(folder).positions().offsets == {}
            return
        found = Checkpoint(folder).positions()
        if query.committed >= 0 or query.ends[-1]:
            assert found.offsets == query.ends[query.committed]
            assert found.unknown is None
        if query.planned > query.committed:
            assert found.in_flight is not None
            assert found.in_flight.batch == query.planned
            assert dict(found.in_flight.ends).items() <= query.ends[query.planned].items()
        else:
            assert found.in_flight is None


@given(st.data())
def test_position_read_while_the_query_runs_was_true_meanwhile(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        query = Query(Path(folder), data)
        query.run(data.draw(st.integers(2, 8)))
        before = query.committed
        checkpoint = _Interrupted(folder, query, data)
        try:
            found = checkpoint.positions()
        except PositionsError as error:
            assert "changes faster" in str(error)
            return
        if before >= 0:
            assert any(found.offsets == query.ends[at] for at in query.ends if before <= at <= query.committed)


class _Interrupted(Checkpoint):
    """A checkpoint whose query runs on before each file is listed or read."""

    def __init__(self, location: str, query: Query, data: st.DataObject) -> None:
        super().__init__(location)
        assert len(self.positions()) == 4  # opens it
        assert self._files
        names, read = self._files._names, self._files._read

        def runs() -> None:
            query.run(data.draw(st.integers(0, 3)))

        self._files._names = lambda folder: (runs(), names(folder))[1]  # type: ignore[func-returns-value]
        self._files._read = lambda name: (runs(), read(name))[1]  # type: ignore[func-returns-value]
