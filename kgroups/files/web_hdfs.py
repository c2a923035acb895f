"""The files of a store in HDFS, by WebHDFS, which every NameNode serves: no Java, and no Hadoop on this machine.

HDFS shows a file while it is being written. A file that must be whole is therefore written under another name, and then
renamed, which HDFS does in one step and refuses if the name is taken: this is the conditional create of a store.

Location: ``hdfs://NAMENODE[:PORT][,STANDBY[:PORT]]/path``; the port is the WebHDFS port (9870), not the RPC port.
``swebhdfs://`` is the same over TLS (9871). Settings in the location: ``user`` (default: ``HADOOP_USER_NAME``, or the
user of this process), or ``delegation``, the token of a cluster with Kerberos.

Source: Hadoop's WebHDFS REST API.
"""

from __future__ import annotations

import getpass
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import requests
from requests import Response, exceptions
from urllib3.exceptions import NewConnectionError

from kgroups.errors import HistoryError

from .object_files import SCHEMES, UNFINISHED, Append, Found

_CONNECT, _READ = 10.0, 120.0
"""Seconds until a server counts as dead."""
_CHUNK = 1 << 20
_OWNER_ONLY = "700"


class WebHdfsFiles:
    """Files below a directory of HDFS."""

    def __init__(self, scheme: str, address: str, settings: dict[str, str]) -> None:
        """Use a directory; nothing is requested yet.

        :param address: NameNodes and path: what follows ``://``.
        :raises HistoryError: if a setting is unknown.
        """
        if unknown := sorted(settings.keys() - {"user", "delegation"}):
            raise HistoryError(f"HDFS has no setting {unknown[0]!r}: use user or delegation")
        protocol, port = SCHEMES[scheme]
        nodes, _, path = address.partition("/")
        self._nodes = [f"{protocol}://{node if ':' in node else f'{node}:{port}'}" for node in nodes.split(",")]
        self._root = PurePosixPath("/", path)
        user = settings.get("user") or os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
        token = settings.get("delegation")
        self._who = {"delegation": token} if token else {"user.name": user}
        self._http = requests.Session()

    def make(self) -> None:
        """Create the directory for its owner only."""
        self._ask("PUT", "", "MKDIRS", permission=_OWNER_ONLY)

    def put(self, name: str, data: bytes, *, replace: bool) -> bool:
        """Write a file as a whole; return ``False`` if it exists and may not be replaced."""
        part = f"{UNFINISHED}/{uuid4()}"
        self._upload(part, data)
        try:
            self._rename(part, name, "OVERWRITE" if replace else "NONE")
        except FileExistsError:
            self.delete(part)
            return False
        return True

    def _rename(self, name: str, new: str, options: str) -> None:
        place = self._root / new
        for _ in range(2):
            with suppress(FileNotFoundError):  # of the new name's directory
                self._ask("PUT", name, "RENAME", destination=str(place), renameoptions=options)
                return
            self._ask("PUT", str(place.parent), "MKDIRS")
        raise FileNotFoundError(None, f"{name} is missing")

    def chunks(self, name: str) -> Iterator[bytes]:
        """Return the content of a file."""
        place = self._ask("GET", name, "OPEN", noredirect="true")["Location"]
        with self._send("GET", place, stream=True) as response:
            chunks: Iterator[bytes] = response.iter_content(_CHUNK)
            yield from chunks

    def listed(self, prefix: str) -> Iterator[Found]:
        """Return the files below a directory."""
        for status in self._statuses(prefix):
            name = f"{prefix.rstrip('/')}/{status['pathSuffix']}".lstrip("/")
            if status["type"] == "DIRECTORY":
                yield from self.listed(name)
            else:
                yield Found(name, status["length"], datetime.fromtimestamp(status["modificationTime"] / 1000, UTC))

    def folders(self, prefix: str) -> list[str]:
        """Return the names of the directories in a directory."""
        return [status["pathSuffix"] for status in self._statuses(prefix) if status["type"] == "DIRECTORY"]

    def _statuses(self, prefix: str) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = self._ask("GET", prefix, "LISTSTATUS")["FileStatuses"]["FileStatus"]
        except FileNotFoundError:
            return []
        return found

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        return int(self._ask("GET", name, "GETFILESTATUS")["FileStatus"]["length"])

    def delete(self, name: str) -> None:
        """Delete a file; one that does not exist is no error."""
        self._ask("DELETE", name, "DELETE")

    @contextmanager
    def writing(self, name: str) -> Iterator[Append]:
        """Write a new file as a stream; it is collected on this machine, because a request carries a whole file."""
        with tempfile.TemporaryFile() as content:
            yield content.write
            content.seek(0)
            self._upload(name, content)

    def _upload(self, name: str, content: Any) -> None:
        place = self._ask("PUT", name, "CREATE", overwrite="false", noredirect="true")["Location"]
        self._send("PUT", place, data=content).close()

    def _ask(self, method: str, name: str, operation: str, **parameters: str) -> Any:
        """Ask the active NameNode; one that is on standby, or cannot be connected to, has done nothing."""
        path = quote(str(self._root / name))
        parameters = {"op": operation, **self._who, **parameters}
        for node in self._nodes:
            try:
                response = self._send(method, f"{node}/webhdfs/v1{path}", params=parameters)
                return response.json() if response.content else {}
            except exceptions.JSONDecodeError:
                kind = response.headers.get("Content-Type", "nothing")
                raise OSError(None, f"WebHDFS responds with {kind} instead of JSON") from None
            except _StandbyError as error:
                failure: OSError = error
            except exceptions.ConnectionError as error:
                failure = OSError(None, f"no connection to {node}")
                if not _is_unsent(error):
                    raise OSError(None, f"no answer from {node}") from None
        raise failure

    def _send(self, method: str, url: str, **options: Any) -> Response:
        """Send a request.

        :raises OSError: that fits what the server reports.
        """
        response = self._http.request(method, url, timeout=(_CONNECT, _READ), **options)
        if response.ok:
            return response
        try:
            remote = response.json()["RemoteException"]
        except (ValueError, KeyError, TypeError):
            raise OSError(None, f"WebHDFS responds with {response.status_code} {response.reason}") from None
        kind, line = remote["exception"], str(remote.get("message", "")).partition("\n")[0]
        raise _ERRORS.get(kind, OSError)(None, line or kind)


def _is_unsent(error: Exception) -> bool:
    """Return whether a request failed before it was sent."""
    cause = error.args[0] if error.args else None
    return isinstance(error, exceptions.ConnectTimeout) or isinstance(
        getattr(cause, "reason", None), NewConnectionError
    )


class _StandbyError(OSError):
    pass


_ERRORS: dict[str, type[OSError]] = {
    "FileNotFoundException": FileNotFoundError,
    "FileAlreadyExistsException": FileExistsError,
    "StandbyException": _StandbyError,
}
