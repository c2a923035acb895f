"""Where a store is: files by name, on this machine or in an object store, the same for the driver and every task.

Strategy: ``obstore`` for all of them but HDFS (:mod:`kgroups.files.web_hdfs`). A file is written under a name that
nothing else uses, or created on the condition that its name is free (:meth:`Storage.create`), which is what makes
concurrent writers safe. For locations, see :mod:`kgroups.files.location`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
from obstore.exceptions import BaseError

from kgroups.errors import HistoryError
from kgroups.files.location import absolute, folder_of, open_files, reason_of, redact_location, scheme_of
from kgroups.files.object_files import SCHEMES, Append, Files, Found


class Storage:
    """The files below a location. It can be pickled: a task opens it again.

    Every method raises :class:`HistoryError` in one line if the location cannot be used.
    """

    def __init__(self, location: str) -> None:
        self.location = absolute(location)
        self.shown = redact_location(self.location)
        """The location for messages: a URI may contain the keys of an object store."""
        self.scheme = scheme_of(self.location)

    def __repr__(self) -> str:
        return f"Storage({self.shown})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_files"}

    def check_publishable(self) -> None:
        """Raise an error if other readers cannot read files here by themselves."""
        if self.scheme in SCHEMES:
            raise HistoryError(f"store {self.shown}: files in HDFS cannot be published")

    @property
    def folder(self) -> Path | None:
        """The directory on this machine; ``None`` if it is elsewhere."""
        return folder_of(self.location)

    def make(self) -> None:
        """Create a directory on this machine for its owner only: it will contain names of groups, clients, and hosts.

        Checks that another store rejects a second file of the same name: a server that ignores the condition would
        lose data silently.
        """
        if self.folder:
            try:
                self.folder.mkdir(0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise HistoryError(f"store {self.shown}: {error.strerror or error}") from None
            return
        with self.errors("directory"):
            self._files.make()
        probe = f"_probe-{uuid4()}"
        safe = self.create(probe, b"1") and not self.create(probe, b"2")
        self.delete([probe])
        if not safe:
            raise HistoryError(
                f"store {self.shown}: this server overwrites a file that exists (it ignores If-None-Match): two "
                "collectors would destroy each other's data; use another server, or a newer version"
            )

    def create(self, name: str, data: bytes) -> bool:
        """Create a file as a whole, unless the name exists; return whether it was created."""
        with self.errors(name):
            return self._files.put(name, data, replace=False)

    def replace(self, name: str, data: bytes) -> None:
        """Write a file as a whole, whether or not it exists. Only for what is not needed: it has no condition."""
        with self.errors(name):
            self._files.put(name, data, replace=True)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; ``None`` if it does not exist."""
        with self.errors(name):
            try:
                return b"".join(self._files.chunks(name))
            except FileNotFoundError:
                return None

    def names(self, prefix: str) -> dict[str, int]:
        """Return the files below a directory: name, relative to the location -> size in bytes."""
        return {file.name: file.size for file in self._listed(prefix)}

    def names_before(self, prefix: str, limit: datetime) -> list[str]:
        """Return the files below a directory that were last modified before a time."""
        return [file.name for file in self._listed(prefix) if file.modified < limit]

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the directories in a directory."""
        if self.folder and not (self.folder / prefix).is_dir():
            return []
        with self.errors(prefix):
            return self._files.folders(prefix)

    def _listed(self, prefix: str) -> list[Found]:
        if self.folder and not (self.folder / prefix).is_dir():
            return []
        with self.errors(prefix):
            return list(self._files.listed(prefix))

    def copy(self, name: str, path: Path) -> None:
        """Copy a file to this machine."""
        with self.errors(name), path.open("wb") as file:
            file.writelines(self._files.chunks(name))

    def sha256(self, name: str) -> str:
        """Return the SHA-256 of a file, in hexadecimal.

        :raises HistoryError: if it does not exist.
        """
        digest = sha256()
        with self.errors(name):
            for chunk in self._files.chunks(name):
                digest.update(chunk)
        return digest.hexdigest()

    def size(self, name: str) -> int:
        """Return the size of a file in bytes.

        :raises HistoryError: if it does not exist.
        """
        with self.errors(name):
            return (self.folder / name).stat().st_size if self.folder else self._files.size(name)

    def delete(self, names: list[str]) -> None:
        """Delete files; a file that does not exist is not an error."""
        for name in names:
            with self.errors(name), suppress(FileNotFoundError):
                self._files.delete(name)

    @contextmanager
    def writing(self, name: str) -> Iterator[Any]:
        """Write a new file as a stream: yield an open binary file.

        After a failure there may be a part of it, but not on this machine.
        """
        with self.errors(name):
            if self.folder:
                self._check_folder(self.folder)
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as local:
                    try:
                        yield local
                        local.flush()
                    except BaseException:
                        path.unlink(missing_ok=True)
                        raise
            else:
                with self._files.writing(name) as append:
                    yield _Upload(append)

    def opened(self, name: str) -> Any:
        """Open a file for Arrow: a path on this machine, otherwise its content.

        :raises HistoryError: if it does not exist.
        """
        if self.folder:
            return str(self.folder / name)
        content = self.read(name)
        if content is None:
            raise HistoryError(f"store {self.shown}: {name} is missing")
        return pa.BufferReader(content)

    @contextmanager
    def errors(self, name: str) -> Iterator[None]:
        """Raise errors of a file as :class:`HistoryError`."""
        try:
            yield
        except (BaseError, OSError, pa.ArrowException) as error:
            fault = f"{name}: {reason_of(error, self.location)}"
            failed = HistoryError(f"store {self.shown}: {fault}")
            failed.fault = fault
            raise failed from None

    @staticmethod
    def _check_folder(folder: Path) -> None:
        """Raise an error if the directory does not exist: it is never created again behind a user who deleted it."""
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder} does not exist")

    @cached_property
    def _files(self) -> Files:
        if self.folder:
            self._check_folder(self.folder)
        try:
            return open_files(self.location)
        except (BaseError, OSError, ValueError, TypeError) as error:
            raise HistoryError(f"store {self.shown}: {reason_of(error, self.location)}") from None


class _Upload:
    """A file that is being uploaded, with the methods that Arrow needs."""

    closed = False

    def __init__(self, append: Append) -> None:
        self._append = append

    def write(self, data: Any) -> int:
        self._append(data)
        return len(data)

    def flush(self) -> None:
        """Do nothing: parts are uploaded when they are full."""

    def close(self) -> None:
        """Do nothing: Arrow closes also after a failure."""
