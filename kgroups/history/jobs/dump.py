"""Dump the log as Parquet or JSON lines, without Spark: faster for a single dump.

Strategy: the log is divided among the processes; each reads, decodes, and writes its own part, and returns only its
row count. JSON lines to a stream are written by one process, in log order within each partition.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa

from kgroups.config.settings import ClientSettings
from kgroups.errors import HistoryError
from kgroups.model.placement import OFFSETS_TOPIC

from ..arrow import arrow_schema, open_parquet
from ..decode import as_table
from ..extract.ranges import Range, between, pack
from ..extract.reader import read
from ..hosts import KEEP_HOSTS, ClientHosts
from ..live.offsets_log import open_log
from ..tables import Table


class Dump(NamedTuple):
    """The scope of a dump: a table of the log, between two times in milliseconds since 1970 if given."""

    settings: ClientSettings
    table: Table
    topic: str = OFFSETS_TOPIC
    since: int | None = None
    until: int | None = None
    hosts: ClientHosts = KEEP_HOSTS


def dump_parquet(dump: Dump, folder: Path, processes: int) -> int:
    """Write ``part-00000.parquet``, … into a directory that is empty or new; return the number of rows.

    The files get their names when all are complete. After an error there are none.

    :raises HistoryError: if the directory is not empty, or a file cannot be written, or the log cannot be read.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise HistoryError(f"{folder} is there already; give a folder that is empty or new")
    parts = pack(_ranges(dump), processes)
    files = [folder / f"part-{number:05}.parquet" for number in range(len(parts))]
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        rows = _write_parts(dump, files, parts)
        for file in files:
            _unfinished(file).rename(file)
        return rows
    except BaseException as error:
        with suppress(OSError):
            for file in files:
                _unfinished(file).unlink(missing_ok=True)
            if is_new:
                folder.rmdir()
        if isinstance(error, OSError):
            raise _unwritable(folder, error) from None
        raise


def _write_parts(dump: Dump, files: Sequence[Path], parts: Sequence[Sequence[Range]]) -> int:
    write = partial(_write_part, dump)
    if len(parts) < 2:
        return sum(map(write, files, parts))
    # Spawn: librdkafka's threads do not survive a fork.
    with ProcessPoolExecutor(len(parts), mp_context=get_context("spawn")) as pool:
        return sum(pool.map(write, files, parts))


def _unfinished(file: Path) -> Path:
    return file.with_name(f".{file.name}.unfinished")


def _unwritable(path: Path, error: OSError) -> HistoryError:
    """Return the error of a file; Arrow's message contains the number of the error."""
    return HistoryError(f"cannot write {path}: {os.strerror(error.errno) if error.errno else error}")


def dump_json(dump: Dump, stream: IO[str]) -> int:
    """Write one JSON object per line, with the table's columns as keys; return the number of lines.

    Absent values are null, bytes are base64.
    """
    rows = 0
    for batch in _batches(dump, _ranges(dump)):
        stream.write("".join(_json_lines(batch)))
        rows += batch.num_rows
    return rows


def _ranges(dump: Dump) -> list[Range]:
    with open_log(dump.settings, dump.topic) as log:
        ends = log.ends()
        starts = {each: end.start for each, end in ends.items()} if dump.since is None else log.at(dump.since, ends)
        stops = {each: end.stable for each, end in ends.items()} if dump.until is None else log.at(dump.until, ends)
    return between(starts, stops)


def _batches(dump: Dump, ranges: Sequence[Range]) -> Iterator[pa.RecordBatch]:
    records = read(dump.settings, ranges, topic=dump.topic)
    return as_table(dump.table, records, redact=dump.hosts.redaction)


def _write_part(dump: Dump, file: Path, ranges: Sequence[Range]) -> int:
    rows = 0
    try:
        with open_parquet(_unfinished(file), arrow_schema(dump.table)) as writer:
            for batch in _batches(dump, ranges):
                writer.write_batch(batch)
                rows += batch.num_rows
    except OSError as error:
        raise _unwritable(file, error) from None
    return rows


def _json_lines(batch: pa.RecordBatch) -> Iterator[str]:
    converters = [_CONVERTERS.get(str(field.type), _unchanged) for field in batch.schema]
    columns = [
        [convert(value) for value in column.to_pylist()]
        for convert, column in zip(converters, batch.columns, strict=True)
    ]
    names = batch.schema.names
    for row in zip(*columns, strict=True):
        yield json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n"


def _unchanged(value: Any) -> Any:
    return value


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _base64(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


_CONVERTERS: dict[str, Callable[[Any], Any]] = {"timestamp[us, tz=UTC]": _time, "binary": _base64}
