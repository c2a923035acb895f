"""The rows that the options of ``kgroups-history`` select: by statistics of the manifest, then of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from fnmatch import translate
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..load.manifest import DataFile
from ..transform.definitions import BEGINNING

GROUP = "group"


class Selection(NamedTuple):
    """Rows of a time span and of groups; ``None`` selects all. Rows without a time are in no span."""

    time: str | None = None
    """The column with the time of a row."""
    since: datetime | None = None
    until: datetime | None = None
    groups: tuple[str, ...] | None = None
    """Names, and globs, which also match themselves."""

    @property
    def columns(self) -> list[str]:
        """The columns that :meth:`rows` needs."""
        time = [self.time] if self.time and (self.since or self.until) else []
        return [*time, *([GROUP] if self.groups else [])]

    def files(self, files: Iterable[DataFile]) -> list[DataFile]:
        """Return the files that may have such rows."""
        if not (self.since or self.until):
            return list(files)
        return [f for f in files if f.first is not None and f.last is not None and self._overlaps(f.first, f.last)]

    def row_groups(self, footer: pq.FileMetaData) -> list[int]:
        """Return the row groups of a file that may have such rows."""
        names = footer.schema.to_arrow_schema().names
        return [at for at in range(footer.num_row_groups) if self._may_have(footer.row_group(at), names)]

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return these rows of a batch, which has the :attr:`columns`."""
        for limit, keeps in ((self.since, pc.greater_equal), (self.until, pc.less)):
            if limit is not None:
                batch = batch.filter(keeps(batch[self.time], pa.scalar(limit, batch.schema.field(self.time).type)))
        if self.groups:
            names, pattern = split_globs(self.groups)
            column = batch[GROUP]
            keep = pc.is_in(column, pa.array(names, column.type))
            if pattern:
                keep = pc.or_kleene(keep, pc.match_substring_regex(column, rf"\A(?:{pattern})\z"))
            batch = batch.filter(keep)
        return batch

    def _may_have(self, part: pq.RowGroupMetaData, columns: Sequence[str]) -> bool:
        if self.time and (self.since or self.until) and (found := _bounds(part, columns, self.time)):
            first, last = ((each - BEGINNING) // timedelta(microseconds=1) for each in found)
            if not self._overlaps(first, last):
                return False
        if self.groups and (found := _bounds(part, columns, GROUP)):
            names, pattern = split_globs(self.groups)
            return bool(pattern) or any(found[0] <= name <= found[1] for name in names)
        return True

    def _overlaps(self, first: int, last: int) -> bool:
        """Return whether rows from ``first`` to ``last``, in microseconds since 1970, may be in the span."""
        micros = [None if each is None else (each - BEGINNING) // timedelta(microseconds=1) for each in self[1:3]]
        return (micros[0] is None or last >= micros[0]) and (micros[1] is None or first < micros[1])


def split_globs(groups: Iterable[str]) -> tuple[list[str], str | None]:
    """Return the names, globs among them, and a regular expression of RE2 for what the globs match, or ``None``.

    RE2 has no atomic groups, which only make Python's engine faster, and no pattern that matches nothing.
    """
    names = list(groups)
    globs = [name for name in names if set(name) & set("*?[")]
    texts = (translate(glob).removesuffix(r"\Z").removesuffix(r"\z") for glob in globs)
    regexes = [text.replace("(?>", "(?:").replace("(?!)", r"[^\x{0}-\x{10FFFF}]") for text in texts]
    return names, "|".join(regexes) or None


def _bounds(part: pq.RowGroupMetaData, columns: Sequence[str], name: str) -> tuple[Any, Any] | None:
    """Return the lowest and highest value of a column; ``None`` if they are unknown."""
    found = part.column(columns.index(name)).statistics if name in columns else None
    return (found.min, found.max) if found is not None and found.has_min_max else None


def pack(files: Sequence[DataFile], size: int) -> Iterator[tuple[DataFile, ...]]:
    """Divide files into bundles of about this size in bytes; a larger file is alone."""
    bundle: list[DataFile] = []
    total = 0
    for file in files:
        if bundle and total + file.size > size:
            yield tuple(bundle)
            bundle, total = [], 0
        bundle.append(file)
        total += file.size
    if bundle:
        yield tuple(bundle)
