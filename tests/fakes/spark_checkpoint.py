"""The checkpoint of a Spark query, as Spark writes it, and what a reader must find in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

Ends = Mapping[str, Mapping[int, int]]
"""Topic -> partition -> the offset after the last record of a batch."""
METADATA = '{"batchWatermarkMs":0,"batchTimestampMs":1795741011764,"conf":{"spark.sql.shuffle.partitions":"1"}}'
COMMITS = {
    1: 'v1\n{"nextBatchWatermarkMs":0}',
    2: 'v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{"0":[["a-b"]]}}',
    3: 'v3\n{"nextBatchWatermarkMs":0,"sinkMetadataMap":{}}',
}
"""Version of the commit log -> a file."""


def offset_of(ends: Ends | str | None) -> str:
    """Return the offset of one source: of Kafka, of something else, or none."""
    if ends is None or isinstance(ends, str):
        return ends or "-"
    return json.dumps(ends, separators=(",", ":"))


class FakeCheckpoint:
    """The files of a query, written in the order in which Spark writes them, with checksums beside them."""

    def __init__(self, folder: Path, *, version: int = 1, commits: int = 1, names: Sequence[str] = ()) -> None:
        """Begin a query.

        :param version: of the offset log.
        :param commits: the version of the commit log.
        :param names: the IDs of the sources, if they are not numbers.
        """
        self.folder, self._version, self._commits, self._names = folder, version, commits, names
        self._write("metadata", '{"id":"493d5883-b3a0-4103-ba3c-53838ca66a7c"}')
        (folder / "commits").mkdir()

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        (path.parent / f".{path.name}.crc").write_bytes(b"crc\0")

    def _id(self, source: int) -> str:
        return self._names[source] if self._names else str(source)

    def start(self, source: int, ends: Ends) -> None:
        """Write where a source of Kafka begins."""
        self._write(f"sources/{self._id(source)}/0", f"\0v1\n{offset_of(ends)}")

    def plan(self, batch: int, *sources: Ends | str | None, metadata: str = METADATA) -> None:
        """Write where a batch ends, before it is processed."""
        lines = [offset_of(each) for each in sources]
        if self._version == 2:
            lines = [f"{self._id(number)}:{line}" for number, line in enumerate(lines)]
        self._write(f"offsets/{batch}", "\n".join([f"v{self._version}", metadata, *lines]))

    def complete(self, batch: int) -> None:
        self._write(f"commits/{batch}", COMMITS[self._commits])

    def purge(self, before: int) -> None:
        """Delete what Spark does not keep: the files of older batches."""
        for path in (*self.folder.glob("offsets/*"), *self.folder.glob("commits/*")):
            if path.name.isdigit() and int(path.name) < before:
                path.unlink()
                (path.parent / f".{path.name}.crc").unlink()
