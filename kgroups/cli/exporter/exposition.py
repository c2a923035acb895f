"""The text of the metrics, rendered once per poll, so that a scrape costs no more than sending it."""

from __future__ import annotations

import gzip
import io
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgroups.render.metrics import Level, Scrape

Start = Callable[..., Any]
App = Callable[[dict[str, Any], Start], Iterable[bytes]]
Texts = dict[tuple[str, bool], bytes]
"""Content type, and whether it is compressed -> text."""


class Exposition:
    """A WSGI application that serves the metrics of the last poll.

    :param max_series: see :func:`kgroups.render.metrics.texts`.
    """

    def __init__(self, level: Level, *, kminion: bool = False, max_series: int | None = None) -> None:
        from kgroups.render.metrics import Scrape

        self._level, self._kminion, self._max_series = level, kminion, max_series
        self._formats: dict[tuple[str, bool], Any] = {}
        self._latest: tuple[Scrape, Texts] = Scrape(), {}

    def publish(self, scrape: Scrape) -> None:
        """Serve this poll from now on, in each format that was requested before."""
        formats = tuple(self._formats.items())
        self._latest = scrape, {form: self._render(scrape, encode, form[1]) for form, encode in formats}

    def not_ready(self) -> str | None:
        """Return why the metrics are incomplete; ``None`` if a poll has reached the cluster."""
        scrape, _ = self._latest
        if not scrape.scrapes:
            return "the first poll is not finished"
        return None if scrape.up else "the last poll did not reach the cluster"

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        from prometheus_client.exposition import choose_encoder

        from kgroups.render.metrics import text_of_age

        encode, content_type = choose_encoder(environ.get("HTTP_ACCEPT", ""))
        compressed = "gzip" in environ.get("HTTP_ACCEPT_ENCODING", "")
        scrape, texts = self._latest
        form = content_type, compressed
        if form not in texts:
            self._formats[form] = encode
            texts[form] = self._render(scrape, encode, compressed)
        age = text_of_age(scrape, time.time(), encode)
        headers = [("Content-Type", content_type), ("Vary", "Accept, Accept-Encoding")]
        body = texts[form] + (_compressed([age]) if compressed else age)
        if compressed:
            headers.append(("Content-Encoding", "gzip"))
        start_response("200 OK", [*headers, ("Content-Length", str(len(body)))])
        return [body]

    def _render(self, scrape: Scrape, encode: Callable[[Any], bytes], compressed: bool) -> bytes:
        from kgroups.render.metrics import texts

        found = texts(scrape, encode, level=self._level, kminion=self._kminion, max_series=self._max_series)
        return (_compressed if compressed else b"".join)(found)


def _compressed(texts: Iterable[bytes]) -> bytes:
    """Return a member of a gzip file: several in a row are one file."""
    output = io.BytesIO()
    with gzip.GzipFile(fileobj=output, mode="wb", compresslevel=1) as file:
        file.writelines(texts)
    return output.getvalue()
