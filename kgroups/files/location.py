"""Where files are, and the errors of a place.

Locations: a path, ``file://``, ``s3://`` (or ``s3a://``), ``gs://``, ``az://``, ``abfs://`` (or ``abfss://``),
``hdfs://``. Credentials and other settings come from the environment, as every client of that store reads them
(``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL``, ``GOOGLE_APPLICATION_CREDENTIALS``, ``AZURE_STORAGE_ACCOUNT_NAME``), or
from the location: ``s3://bucket/path?region=eu-west-1``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from kgroups.errors import HistoryError, install_command

if TYPE_CHECKING:
    from .object_files import Files

_SAME = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs"}
"""Other names of schemes, in Hadoop's terms."""

LOCAL = "file"


def absolute(location: str) -> str:
    """Return a location that is the same in every process: others may have another working directory."""
    return (location if "://" in location else str(Path(location).absolute())).rstrip("/") or "/"


def scheme_of(location: str) -> str:
    """Return the scheme of a location, in its usual form; :data:`LOCAL` for a path."""
    scheme, separator, _ = location.partition("://")
    return _SAME.get(scheme, scheme) if separator else LOCAL


def folder_of(location: str) -> Path | None:
    """Return the directory on this machine; ``None`` if it is elsewhere."""
    return Path(unquote(location.removeprefix("file://"))) if scheme_of(location) == LOCAL else None


def open_files(location: str) -> Files:
    """Return the files below a location.

    :raises HistoryError: if requests is not installed, which HDFS needs.
    :raises ImportError: if obstore is not installed.
    :raises obstore.exceptions.BaseError, OSError, ValueError, TypeError: if it is invalid.
    """
    from .object_files import SCHEMES, ObjectFiles

    if folder := folder_of(location):
        return ObjectFiles(folder, {})
    address, _, query = location.partition("?")
    scheme, address = scheme_of(location), address.partition("://")[2]
    settings = dict(parse_qsl(query))
    if scheme not in SCHEMES:
        return ObjectFiles(f"{scheme}://{address}", settings)
    try:
        from .web_hdfs import WebHdfsFiles
    except ImportError:
        raise HistoryError(f"stores in HDFS need requests: {install_command('hdfs')}") from None
    return WebHdfsFiles(scheme, address, settings)


def reason_of(error: Exception, location: str) -> str:
    """Return in one line what failed there, without a key that the location contains."""
    if isinstance(error, OSError) and error.strerror:
        # The text of Arrow's is a sentence about its function; errors without a number are our own.
        return os.strerror(error.errno) if error.errno else error.strerror
    # A message may repeat parts of the location, with other quoting.
    return full_reason(error) if redact_location(location) == location else type(error).__name__


def full_reason(error: Exception) -> str:
    """Return the message of an object store, a Delta table, or a catalog in one line, with all its causes.

    Causes are on lines of their own, in color, or only in the debug output after the message.
    """
    lines = str(error).splitlines()
    end = next((number for number, line in enumerate(lines) if line.startswith("Debug source")), len(lines))
    shown = [_DECORATION.sub("", line).strip(" :") for line in lines[:end]]
    causes = [line for line in shown if line] or [type(error).__name__]
    innermost = [found for line in lines[end:] for found in _CAUSE.findall(line)][-1:]
    causes += (cause for cause in innermost if not any(cause in line for line in shown))
    return ": ".join(causes)


_DECORATION = re.compile(r"\x1b\[[0-9;]*m|\u21b3")
_CAUSE = re.compile(r'message: "([^"]+)"')


def redact_location(location: str) -> str:
    """Return a store's location without the user, password, and options that a URI may contain."""
    scheme, separator, rest = location.partition("://")
    if not separator:
        return location
    user, _, place = rest.partition("?")[0].rpartition("@")  # a key may contain slashes
    return f"{scheme}://{'****@' if user else ''}{place}"
