"""The files of a store on this machine or in an object store, by ``obstore``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.store import LocalStore, ObjectStore, from_url

SCHEMES = {"hdfs": ("http", 9870), "webhdfs": ("http", 9870), "swebhdfs": ("https", 9871)}
"""Scheme of a location in HDFS -> scheme and default port of WebHDFS."""

UNFINISHED = "_unfinished"
"""Directory of files in HDFS that are not yet renamed."""

_RETRY: Any = {"max_retries": 4, "retry_timeout": timedelta(seconds=20)}
"""Bounds how long a server that does not respond delays a message; the default is three minutes."""


class Found(NamedTuple):
    """A file of a listing."""

    name: str
    """Relative to the location of the store."""
    size: int
    """In bytes."""
    modified: datetime


Append = Callable[[Any], object]
"""Appends bytes to a file."""


class Files(Protocol):
    """Files by name, relative to a location.

    Every method raises :class:`OSError`, or obstore's ``BaseError``, if the location cannot be used, and those that
    read :class:`FileNotFoundError`.
    """

    def make(self) -> None:
        """Create the directory, where a store has directories."""

    def put(self, name: str, data: bytes, *, replace: bool) -> bool:
        """Write a file as a whole; return ``False`` if it exists and may not be replaced."""

    def chunks(self, name: str) -> Iterator[bytes]:
        """Return the content of a file."""

    def listed(self, prefix: str) -> Iterator[Found]:
        """Return the files below a directory, in any order; none if it does not exist."""

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the directories in a directory, without what is below them."""

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""

    def delete(self, name: str) -> None:
        """Delete a file; may raise :class:`FileNotFoundError`."""

    def writing(self, name: str) -> AbstractContextManager[Append]:
        """Write a new file as a stream; after a failure there is none."""


class ObjectFiles:
    """Files that ``obstore`` reads and writes."""

    def __init__(self, place: Path | str, settings: dict[str, str]) -> None:
        """Use a directory on this machine, or the URL of an object store with settings of that store.

        :raises obstore.exceptions.BaseError, ValueError, TypeError: if the URL or a setting is unknown.
        """
        options: Any = settings
        self._store: ObjectStore = (
            LocalStore(place)
            if isinstance(place, Path)
            else from_url(place, client_options={"allow_http": True}, retry_config=_RETRY, **options)
        )

    def make(self) -> None:
        """Do nothing: a bucket has no directories."""

    def put(self, name: str, data: bytes, *, replace: bool) -> bool:
        """Write a file as a whole; return ``False`` if it exists and may not be replaced."""
        try:
            obstore.put(self._store, name, data, mode="overwrite" if replace else "create")
        except AlreadyExistsError:
            return False
        return True

    def chunks(self, name: str) -> Iterator[bytes]:
        """Return the content of a file."""
        return map(bytes, obstore.get(self._store, name).stream())

    def listed(self, prefix: str) -> Iterator[Found]:
        """Return the files below a directory."""
        for batch in obstore.list(self._store, prefix):
            for meta in batch:
                yield Found(meta["path"], meta["size"], meta["last_modified"])

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the directories in a directory."""
        found = obstore.list_with_delimiter(self._store, prefix)["common_prefixes"]
        return [path.rstrip("/").rpartition("/")[2] for path in found]

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        return int(obstore.head(self._store, name)["size"])

    def delete(self, name: str) -> None:
        """Delete a file."""
        obstore.delete(self._store, name)

    @contextmanager
    def writing(self, name: str) -> Iterator[Append]:
        """Write a new file as a stream."""
        upload = obstore.open_writer(self._store, name)
        yield upload.write
        upload.close()
