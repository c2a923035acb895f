"""Read the checkpoint of a Spark query, which the query writes meanwhile.

The commits are listed first: a batch that is completed later is not taken for read. Spark writes the offsets of a batch
before its commit, and deletes both when many newer batches are complete (``minBatchesToRetain``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from kgroups.errors import HistoryError, MissingPackage, PositionsError, install_command
from kgroups.files.location import open_files, reason_of
from kgroups.model.counts import count, some
from kgroups.model.offsets import InFlight
from kgroups.protocol.spark_checkpoint import BatchEnd, Ends, check_commit, read_initial_offsets, read_offsets

T = TypeVar("T")

_PARTS = frozenset({"metadata", "offsets", "commits", "sources"})
"""The files and folders of a checkpoint; any other folder is none."""
_TRIES = 5
"""How often a checkpoint is read again whose files are replaced meanwhile."""


class Positions(NamedTuple):
    """Where a query continues, by topic and partition.

    ``unknown``: why positions are missing. ``notices``: what else is to know, each a clause.
    """

    offsets: Mapping[tuple[str, int], int]
    in_flight: InFlight | None = None
    unknown: str | None = None
    notices: tuple[str, ...] = ()


class _ChangedError(Exception):
    """The query has deleted or written files meanwhile."""


class Checkpoint:
    """The files of a checkpoint, on this machine or elsewhere."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._files: _Files | None = None

    def positions(self) -> Positions:
        """Return where the query continues: after its last complete batch.

        :raises PositionsError: if the checkpoint cannot be read, or no source of the query reads Kafka.
        :raises MissingPackage: if a package for its location is not installed.
        """
        self._files = files = self._files or _open(self._location)
        for last in (*[False] * (_TRIES - 1), True):
            try:
                return _positions(files, last=last)
            except _ChangedError as error:
                reason = error
        raise PositionsError(f"incomplete, or it changes faster than it can be read: {reason}")


class _Files:
    """Files below a folder; every error is a :class:`PositionsError`, or :class:`_ChangedError` for a missing file."""

    def __init__(
        self,
        names: Callable[[str], Iterable[str]],
        read: Callable[[str], bytes],
        reason: Callable[[Exception], str],
        errors: tuple[type[Exception], ...],
    ) -> None:
        """Use functions that list a folder, read a file, and describe one of these errors."""
        self._names, self._read, self._reason, self._errors = names, read, reason, errors

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none if it does not exist."""
        try:
            return list(self._names(folder))
        except FileNotFoundError:
            return []
        except self._errors as error:
            raise PositionsError(f"{folder or 'its folder'} cannot be listed: {self._reason(error)}") from None

    def batches(self, folder: str) -> list[int]:
        """Return the numbers of the files in a folder, which also contains checksums and temporary files."""
        return [int(name) for name in self.names(folder) if name.isascii() and name.isdigit()]

    def content(self, name: str, parse: Callable[[bytes], T]) -> T:
        """Return what a file contains."""
        try:
            data = self._read(name)
        except FileNotFoundError:
            raise _ChangedError(f"{name} is missing") from None
        except self._errors as error:
            raise PositionsError(f"{name} cannot be read: {self._reason(error)}") from None
        try:
            return parse(data)
        except PositionsError as error:
            raise error.within(name) from None

    def start(self, source: str) -> Ends | None:
        """Return where a source of Kafka begins; ``None`` if that is not known."""
        if "/" in source or "0" not in self.names(f"sources/{source}"):
            return None
        return self.content(f"sources/{source}/0", read_initial_offsets)


def _open(location: str) -> _Files:
    if "://" not in location or location.startswith("file://"):
        is_uri = location.startswith("file:/")  # Hadoop writes it with one slash, too
        root = Path(unquote(location.removeprefix("file:").removeprefix("//")) if is_uri else location).expanduser()
        return _Files(
            lambda folder: [path.name for path in (root / folder).iterdir()],
            lambda name: (root / name).read_bytes(),
            lambda error: (isinstance(error, OSError) and error.strerror) or str(error),
            (OSError, ValueError),
        )
    try:
        from obstore.exceptions import BaseError
    except ImportError:
        raise MissingPackage(f"checkpoints in object stores need obstore: {install_command('pipeline')}") from None
    errors = (BaseError, OSError, ValueError, TypeError)
    try:
        files = open_files(location)
    except errors as error:
        raise PositionsError(f"its location is invalid: {reason_of(error, location)}") from None
    except HistoryError as error:
        raise PositionsError(error.text) from None

    def names(folder: str) -> Iterable[str]:
        inside = f"{folder}/" if folder else ""
        return {found.name.removeprefix(inside).partition("/")[0] for found in files.listed(folder)}

    return _Files(names, lambda name: b"".join(files.chunks(name)), lambda error: reason_of(error, location), errors)


def _positions(files: _Files, *, last: bool) -> Positions:
    committed, end = max(files.batches("commits"), default=-1), BatchEnd({})
    if committed >= 0:
        files.content(f"commits/{committed}", check_commit)
        end = files.content(f"offsets/{committed}", read_offsets)
    newest = max(files.batches("offsets"), default=-1)
    if newest < 0 and not _PARTS.intersection(files.names("")):
        raise PositionsError("there is no checkpoint: no file metadata, and no folders offsets and commits")
    if newest < 0 and committed < 0:
        return Positions({}, unknown="the query has not begun a batch yet")
    if newest < committed:
        raise _ChangedError(f"offsets/{committed} is missing")
    going = None if newest == committed else files.content(f"offsets/{newest}", read_offsets)
    if newest > committed + 1 and not last and max(files.batches("commits"), default=-1) != committed:
        raise _ChangedError(f"commits/{committed} is not the last one")
    if newest > 0 and committed < 0 and "commits" not in files.names(""):
        return Positions({}, unknown=f"the newest batch is {newest}, and no folder commits shows which are complete")
    if going and committed >= 0 and len(going.numbered) != len(end.numbered):
        was, now = count(len(end.numbered), "source"), len(going.numbered)
        raise PositionsError(f"offsets/{newest}: it is damaged: {was} in batch {committed}, and {now} in this one")
    return _joined(files, committed, end, newest, going)


def _joined(files: _Files, committed: int, end: BatchEnd, newest: int, going: BatchEnd | None) -> Positions:
    """Return the positions of all sources: of a partition that several of them read, the lowest one.

    :param going: where the newest batch ends, if it is not complete.
    """
    first = end if going is None or committed >= 0 else going
    starting = first.missing if first is end else (*first.kafka, *first.missing)
    starts = {source: files.start(source) for source in starting}
    begun = [*end.kafka.values(), *(start for start in starts.values() if start is not None)]
    if not begun and not starts:
        raise PositionsError("no source of the query reads Kafka")
    positions: dict[tuple[str, int], int] = {}
    twice: set[str] = set()
    for place, at in (pair for ends in begun for pair in ends.items()):
        if place in positions:
            twice.add(place[0])
        positions[place] = min(at, positions.get(place, at))
    absent = [source for source, start in starts.items() if start is None]
    unknown = None
    if going is not None and (reading := [source for source in absent if source in going.kafka]):
        unknown = f"where {_named(reading)} of the query began is unknown until batch {newest} is complete"
    elif absent and not begun:
        unknown = "no source of the query has an offset yet"
    notices = []
    if first.others:
        notices.append(f"not shown, because it is not Kafka: {_named(first.others)} of the query")
    if absent and not unknown:
        notices.append(f"without an offset yet, whatever it reads: {_named(absent)} of the query")
    if twice:
        notices.append(f"several sources of the query read {some(sorted(twice))}; the lowest position is shown")
    ends = {place: at for each in going.kafka.values() for place, at in each.items()} if going else {}
    if not unknown and (new := sorted({topic for topic, _ in ends} - {topic for topic, _ in positions})):
        unknown = f"the query also reads {some(new)}, from an offset that is unknown until batch {newest} is complete"
    flight = {place: at for place, at in ends.items() if at != positions.get(place)}
    return Positions(positions, InFlight(newest, flight) if going else None, unknown, tuple(notices))


def _named(sources: Collection[str]) -> str:
    return f"source{'s' * (len(sources) > 1)} {some(sources)}"
