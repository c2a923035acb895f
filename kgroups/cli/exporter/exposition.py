"""The text of the metrics, rendered once per poll, so that a scrape costs no more than sending it."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from kgroups.render.metrics import Level, Scrape

Start = Callable[..., Any]
App = Callable[[dict[str, Any], Start], Iterable[bytes]]
_EOF = b"# EOF\n"


class Exposition:
    """A WSGI application that serves the metrics of the last poll.

    :param max_series: see :func:`kgroups.render.metrics.families`.
    """

    def __init__(self, level: Level, *, kminion: bool = False, max_series: int | None = None) -> None:
        from kgroups.render.metrics import Scrape

        self._level, self._kminion, self._max_series = level, kminion, max_series
        self._formats: dict[str, Any] = {}
        self._latest: tuple[Scrape, dict[str, bytes]] = Scrape(), {}

    def publish(self, scrape: Scrape) -> None:
        """Serve this poll from now on, in each format that was requested before."""
        self._latest = scrape, {name: self._render(scrape, encode) for name, encode in tuple(self._formats.items())}

    def not_ready(self) -> str | None:
        """Return why the metrics are incomplete; ``None`` if a poll has reached the cluster."""
        scrape, _ = self._latest
        if not scrape.scrapes:
            return "the first poll is not finished"
        return None if scrape.up else "the last poll did not reach the cluster"

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        from prometheus_client.exposition import choose_encoder

        from kgroups.render.metrics import data_age

        encode, content_type = choose_encoder(environ.get("HTTP_ACCEPT", ""))
        scrape, texts = self._latest
        if content_type not in texts:
            self._formats[content_type] = encode
            texts[content_type] = self._render(scrape, encode)
        age = encode(_Single(data_age(scrape, time.time())))
        headers = [("Content-Type", content_type), ("Vary", "Accept, Accept-Encoding")]
        body = texts[content_type] + age
        if "gzip" in environ.get("HTTP_ACCEPT_ENCODING", ""):
            headers.append(("Content-Encoding", "gzip"))
            body = gzip.compress(body, 1)
        start_response("200 OK", [*headers, ("Content-Length", str(len(body)))])
        return [body]

    def _render(self, scrape: Scrape, encode: Callable[[Any], bytes]) -> bytes:
        from kgroups.render.metrics import families

        every = families(scrape, level=self._level, kminion=self._kminion, max_series=self._max_series)
        # One family at a time: all samples as objects take several times the memory of the text.
        return b"".join(encode(_Single(family)).removesuffix(_EOF) for family in every)


class _Single:
    """A registry of one family."""

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterator[Metric]:
        yield self._family
