"""Where events go: a file, one JSON object per line, or a server of the OpenLineage API."""

from __future__ import annotations

import json
import os
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from kgroups.errors import HistoryError
from kgroups.files.location import redact_location

API_KEY: Final = "OPENLINEAGE_API_KEY"
"""Variable with the key of the server, as every client of OpenLineage reads it."""

_ENDPOINT: Final = "/api/v1/lineage"
_SECONDS: Final = 10.0


class Sink:
    """A file or a URL; a URL without a path gets the path of the API."""

    def __init__(self, target: str) -> None:
        self._is_url = target.startswith(("http://", "https://"))
        self._target = (
            target if not self._is_url or urlsplit(target).path.strip("/") else target.rstrip("/") + _ENDPOINT
        )
        self.shown = redact_location(self._target)

    def write(self, event: dict[str, Any]) -> None:
        """Write an event.

        :raises HistoryError: if it cannot be written.
        """
        data = json.dumps(event).encode() + b"\n"
        try:
            if not self._is_url:
                with Path(self._target).open("ab") as file:
                    file.write(data)
                return
            headers = {"Content-Type": "application/json"}
            if key := os.environ.get(API_KEY):
                headers["Authorization"] = f"Bearer {key}"
            with urlopen(Request(self._target, data, headers), timeout=_SECONDS):
                return
        except HTTPError as error:
            reason = f"HTTP {error.code} {error.reason}"
        except URLError as error:
            reason = str(getattr(error.reason, "strerror", None) or error.reason)
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
        raise HistoryError(f"OpenLineage: {self.shown}: {reason}")
