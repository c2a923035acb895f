"""The text of the metrics, rendered once per poll, so that a scrape costs no more than sending it."""

from __future__ import annotations

import gzip
import io
import threading
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from prometheus_client import exposition, openmetrics

from .metrics import EOF, Encode, Level, Scrape, text_of_age, texts
from .server import Start

OPENMETRICS = "application/openmetrics-text"
RENDER_AHEAD = 600.0
"""Seconds after the last request for a format in which polls render it."""


class Format(NamedTuple):
    """One of the four formats; clients cannot request others, so the work per poll is bounded."""

    openmetrics: bool
    compressed: bool

    @classmethod
    def of(cls, accept: str, accept_encoding: str) -> Format:
        """Return the first format that the client accepts; the text format if it accepts neither.

        Names of kgroups are the same with each ``escaping``, so that this parameter has no effect.
        """
        for each in accept.split(","):
            media, *parameters = (part.strip() for part in each.split(";"))
            if media == "text/plain":
                break
            if media == OPENMETRICS and "version=0.0.1" not in parameters:
                return cls(True, "gzip" in accept_encoding)
        return cls(False, "gzip" in accept_encoding)

    @property
    def content_type(self) -> str:
        version = f"{OPENMETRICS}; version=1.0.0" if self.openmetrics else "text/plain; version=0.0.4"
        return f"{version}; charset=utf-8"

    @property
    def encode(self) -> Encode:
        encode: Encode = openmetrics.exposition.generate_latest if self.openmetrics else exposition.generate_latest
        return encode

    def joined(self, texts: Iterable[bytes]) -> bytes:
        """Return texts as one, compressed if the client accepts that."""
        return (_compressed if self.compressed else b"".join)(texts)

    def respond(self, start_response: Start, body: bytes) -> Iterable[bytes]:
        """Send the metrics."""
        headers = [("Content-Type", self.content_type), ("Vary", "Accept, Accept-Encoding")]
        if self.compressed:
            headers.append(("Content-Encoding", "gzip"))
        start_response("200 OK", [*headers, ("Content-Length", str(len(body)))])
        return [body]


class Exposition:
    """A WSGI application that serves the metrics of the last poll.

    :param max_series: see :func:`kgroups.exporter.metrics.texts`.
    """

    def __init__(self, level: Level, *, compat: str = "kafka_exporter", max_series: int | None = None) -> None:
        self._level, self._compat, self._max_series = level, compat, max_series
        self._requested: dict[Format, float] = {}
        self._rendering = threading.Lock()
        self._latest: tuple[Scrape, dict[Format, bytes]] = Scrape(), {}
        self._families: tuple[Scrape, Format, list[bytes]] | None = None

    def publish(self, scrape: Scrape) -> None:
        """Serve this poll from now on, in each format that was requested within :data:`RENDER_AHEAD`."""
        since = time.monotonic() - RENDER_AHEAD
        recent = [form for form, at in self._requested.copy().items() if at >= since]
        self._latest = scrape, {form: self._render(scrape, form) for form in recent}

    def not_ready(self) -> str | None:
        """Return why the metrics are incomplete; ``None`` if a poll has reached the cluster."""
        scrape, _ = self._latest
        if not scrape.scrapes:
            return "the first poll is not finished"
        return None if scrape.up else "the last poll did not reach the cluster"

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        form = Format.of(environ.get("HTTP_ACCEPT", ""), environ.get("HTTP_ACCEPT_ENCODING", ""))
        self._requested[form] = time.monotonic()
        scrape, texts = self._latest
        if form not in texts:
            with self._rendering:  # once, for however many connections
                texts[form] = texts.get(form) or self._render(scrape, form)
        age = text_of_age(scrape, time.time(), form.encode)
        return form.respond(start_response, texts[form] + form.joined([age]))

    def families(self, form: Format) -> list[bytes]:
        """Return the text of each family, to be merged with the texts of other clusters."""
        scrape, _ = self._latest
        plain = form._replace(compressed=False)
        with self._rendering:
            known = self._families
            if known is None or known[0] is not scrape or known[1] != plain:
                known = self._families = scrape, plain, list(self._texts(scrape, form))
        return [*known[2], text_of_age(scrape, time.time(), form.encode).removesuffix(EOF)]

    def _render(self, scrape: Scrape, form: Format) -> bytes:
        return form.joined(self._texts(scrape, form))

    def _texts(self, scrape: Scrape, form: Format) -> Iterable[bytes]:
        return texts(scrape, form.encode, level=self._level, compat=self._compat, max_series=self._max_series)


def _compressed(texts: Iterable[bytes]) -> bytes:
    """Return a member of a gzip file: several in a row are one file."""
    output = io.BytesIO()
    with gzip.GzipFile(fileobj=output, mode="wb", compresslevel=1) as file:
        file.writelines(texts)
    return output.getvalue()
