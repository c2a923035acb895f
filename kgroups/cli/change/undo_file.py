"""The undo file: contains the old offsets or settings, and is on the disk before the first change is sent."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any

from kgroups.admin.change.apply.chunks import source_of
from kgroups.admin.change.apply.interruption import Interruption
from kgroups.errors import Reason, UsageError
from kgroups.model.counts import some
from kgroups.model.offsets import PlanKey, place_name
from kgroups.model.operations.origin import Source
from kgroups.model.operations.plan_row import envelope
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.skip import record_lines
from kgroups.model.operations.undo_file import addition_line, amendment_line, result_line, undo_lines
from kgroups.model.outcome import Failure, Result, Scope
from kgroups.net.cluster import Cluster
from kgroups.render.cells import escape

from ..frame.exit_status import print_to_stderr
from ..frame.options import ConnectionOptions
from ..frame.progress import wipe
from ..frame.repeat_options import command_line, this_command
from .plan_source import LARGEST

_LONGEST = 60
"""Maximum number of characters of a group name in a file name."""


class UndoFile:
    """The undo file of one run: where it is written, and the command that restores from it.

    :cvar what: the plural of an item.
    """

    what = "offsets"

    def __init__(
        self,
        path: Path | None,
        connection: ConnectionOptions,
        tell: Callable[[str], None] | None = None,
        stop: Interruption | None = None,
        cluster: str = "",
        undoes: str | None = None,
    ) -> None:
        """Check the path before the cluster is contacted.

        :param path: ``None``: a new name in the current directory.
        :param connection: the options that the suggested command repeats.
        :param tell: is called with a note about the file; ``None``: print it to stderr.
        :param stop: the interruption of several clusters; ``None``: a new one.
        :param cluster: one of several clusters, for the new name.
        :param undoes: the command that the run undoes, if it restores from an undo file.
        :raises UsageError: if the file already exists or cannot be created.
        """
        self.path = path
        self.written: Path | None = None
        self._created: Path | None = None
        self.connection = connection
        self.tell = tell or print_note
        self._cluster = cluster
        self._undoes = undoes
        self.stop = stop or Interruption()
        self._file: FileIO | None = None
        self._numbers: dict[PlanKey, int] = {}
        self._saved = 0
        self._error: str | None = None
        self._recorded: set[int] = set()
        self._not_recorded: set[int] = set()
        self._not_amended: list[PlannedOffset] = []
        if path is not None:
            check_free(path)

    @property
    def suggestion(self) -> str:
        """The command that restores the file, quoted for a shell. Contains no secrets."""
        assert self.written
        return command_line(("kgroups", "undo", as_argument(self.written), "--execute", *self.connection.as_words()))

    async def _source(self, cluster: Cluster, planned: Sequence[Any]) -> Source:
        """Return the cluster, and the topic IDs of planned items."""
        return await source_of(cluster, planned)

    def _lines(self, planned: Sequence[Any], source: Source) -> Iterator[str]:
        """Yield the lines of the file before anything is changed."""
        return undo_lines(planned, source)

    def _records(self, planned: Sequence[Any], source: Source) -> Iterator[str]:
        """Yield the lines of the file with the skipped records, if there are any."""
        skipped = [(entry.key, entry.skipped) for entry in planned if entry.skipped]
        return record_lines(skipped, envelope(source)) if skipped else iter(())

    async def save(self, cluster: Cluster, planned: Sequence[Any]) -> None:
        """Write the file, readable for its owner only, and wait until it is on the disk.

        Without items, the file is announced and kept only if :meth:`amend` adds one.

        :raises UsageError: if that fails. Then nothing must be changed, and no file is left behind.
        """
        source = replace(stamped(await self._source(cluster, planned), self.connection), undoes=self._undoes)
        groups = sorted({entry.group for entry in planned})
        data = "".join(line + "\n" for line in self._lines(planned, source)).encode()
        if len(data) > LARGEST:
            raise UsageError(f"--undo-file: larger than {LARGEST // 1024**2:,} MiB; change fewer groups at a time")
        records = "".join(line + "\n" for line in self._records(planned, source)).encode()
        created: Path | None = None
        beside: Path | None = None
        try:
            created, handle = _create(self.path, self._cluster, groups)
            self._file = os.fdopen(handle, "ab", buffering=0)
            _write_whole(self._file, data)
            os.fsync(handle)
            if records:
                beside = _write_beside(created, records)
            _sync_folder(created.parent)
        except BaseException as error:  # also an interrupt: nothing has been sent
            if created is not None:
                created.unlink(missing_ok=True)
                self.close()
            if beside is not None:
                beside.unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            where = self.path or Path.cwd()
            raise UsageError(f"--undo-file: cannot write {where}: {error.strerror}; nothing was changed") from None
        self._created = created
        self._numbers = {entry.key: number for number, entry in enumerate(planned, 1)}
        self._saved = len(planned)
        if planned:
            self._announce()
        if beside is not None:
            self.tell(f"the skipped records are in {beside}")

    def _announce(self) -> None:
        self.written = self._created
        self.tell(f"the old {self.what} are in {self.written}; to restore them: {self.suggestion}")

    def amend(self, planned: Sequence[PlannedOffset]) -> None:
        """Append what the old offsets really were, of planned offsets that were saved with others, or not at all.

        :raises UsageError: if they are not on the disk then.
        """
        if not planned:
            return
        lines = []
        for entry in planned:
            if number := self._numbers.get(entry.key):
                lines.append(amendment_line(number, entry.before))
            else:
                self._numbers[entry.key] = number = len(self._numbers) + 1
                lines.append(addition_line(number, entry))
        if not self._append(lines, sync=True):
            self._not_amended += planned
            raise UsageError(f"--undo-file: cannot append old offsets to {self._created}")
        if not self.written:
            self._announce()

    def record(self, results: Iterable[Any]) -> None:
        """Append results, which survive a kill of the process once this returns.

        After a crash of the machine, some may be missing: an item without a result may have been written.
        """
        if self._file is None and self._error is None:
            return
        lines_by_result: dict[tuple[Result, str | None], list[int]] = {}
        for each in results:
            if number := self._numbers.get(each.planned.key):
                error = each.failure.message if each.failure else None
                lines_by_result.setdefault((each.result, error), []).append(number)
        lines = [result_line(result, numbers, error, self.what) for (result, error), numbers in lines_by_result.items()]
        numbers = {number for each in lines_by_result.values() for number in each}
        recorded = self._recorded if self._append(lines) else self._not_recorded
        recorded.update(numbers)

    def incomplete(self) -> tuple[Failure, ...]:
        """Return the failure of a file to which not everything could be appended, or nothing."""
        if self._error is None:
            return ()
        what, lost = self.what, self._not_amended
        added = [entry for entry in lost if self._numbers.get(entry.key, 0) > self._saved]
        others = [entry for entry in lost if entry not in added]
        missing = len(self._not_recorded - {self._numbers[entry.key] for entry in added})
        has = f"it has the old {what} of all {self._saved:,} planned {what}, and the results of {len(self._recorded):,}"
        lacks = [f"the results of {missing:,}"] if missing else []
        lacks += [f"the old offset, which had changed, of {_places(others)}"] if others else []
        lacks += [f"the old offset, which was not planned, of {_places(added)}"] if added else []
        lacks = lacks or ["nothing that is known, but the last results may not be on the disk"]
        message = f"undo file {self._created} is incomplete ({self._error}): {has}; it lacks {', and '.join(lacks)}"
        hint = f"kgroups undo compares {what} without a result with the current ones; keep this output"
        return (Failure(Scope.CLUSTER, "", message, reason=Reason.UNDO_INCOMPLETE, hint=hint),)

    def _append(self, lines: Iterable[str], *, sync: bool = False) -> bool:
        """Append lines, and with ``sync`` wait until they are on the disk; return whether that succeeded."""
        if self._file is None:
            return False
        try:
            _write_whole(self._file, "".join(f"{line}\n" for line in lines).encode())
            if sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            self._fail(error)  # a truncated line must remain the last one
        return self._file is not None

    def _fail(self, error: OSError) -> None:
        """Append nothing more."""
        self._error = error.strerror or str(error)
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
        self.tell(f"cannot append results to {self._created}: {self._error}")

    def close(self) -> None:
        """Wait until the results are on the disk; remove a file without items."""
        if self._created and not self.written:
            self._created.unlink(missing_ok=True)
        if self._file is not None:
            try:
                os.fsync(self._file.fileno())
                self._file.close()
            except OSError as error:
                self._fail(error)
            self._file = None


def _write_whole(file: FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


async def run_source(cluster: Cluster, connection: ConnectionOptions, planned: Iterable[PlannedOffset]) -> Source:
    """Return the origin that a file records: cluster, topic IDs (queried here), command, time, and version."""
    return stamped(await source_of(cluster, planned), connection)


def stamped(source: Source, connection: ConnectionOptions) -> Source:
    return source.stamped(connection.settings.bootstrap_servers, this_command())


def print_note(text: str) -> None:
    wipe()
    print_to_stderr(f"kgroups: note: {escape(text)}")


def as_argument(path: Path) -> str:
    """Return a path as an argument that is not an option."""
    name = str(path)
    return os.path.join(".", name) if name.startswith("-") else name  # noqa: PTH118 - Path removes the dot


def undo_path_of(path: Path, cluster: str) -> Path:
    """Return the path of the undo file of one of several clusters: ``undo-eu-1.json`` for ``undo.json``."""
    return path.with_name(f"{path.stem}-{_word(cluster)}{path.suffix}") if path.name else path


def check_free(path: Path) -> None:
    """Check that the file can be created.

    :raises UsageError: if it exists, or the path is invalid.
    """
    if not path.name:
        raise UsageError("--undo-file: the name of a file is required")
    try:
        exists = path.exists()
    except OSError as error:  # the name is too long, or the directory cannot be searched
        raise UsageError(f"--undo-file: cannot write {path}: {error.strerror}") from None
    if exists:
        raise UsageError(f"--undo-file: {path} already exists and is never overwritten; choose another name")


def _places(entries: Iterable[PlannedOffset]) -> str:
    places = (f"{place_name(entry.topic, entry.partition)} of group '{entry.group}'" for entry in entries)
    return some(tuple(dict.fromkeys(places)))


def _word(name: str) -> str:
    """Return a name for use in the name of a file."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)[:_LONGEST]


def _create(path: Path | None, cluster: str, groups: Collection[str]) -> tuple[Path, int]:
    if path is not None:
        return path, _open(path)
    label = _word(next(iter(groups))) if len(groups) == 1 else f"{len(groups)}-groups"
    label = f"{_word(cluster)}-{label}" if cluster else label
    stem = f"kgroups-undo-{label}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    number = 1
    while True:
        created = Path(f"{stem}.json" if number == 1 else f"{stem}-{number}.json")
        try:
            return created, _open(created)
        except FileExistsError:
            number += 1


def _write_beside(undo: Path, data: bytes) -> Path:
    """Write the skipped records next to an undo file, and wait until they are on the disk; return the path."""
    path = undo.with_name(f"{undo.stem}.records.jsonl")
    handle = _open(path)
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            _write_whole(file, data)
            os.fsync(handle)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _sync_folder(folder: Path) -> None:
    """Wait until the file name is on the disk, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
