"""The formats of the metrics: what clients request does not decide how much work a poll is."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kgroups.exporter import exposition
from kgroups.exporter.exposition import Exposition, Format
from kgroups.exporter.metrics import Level, Scrape

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;q=0.5"


class Counting(Exposition):
    def __init__(self) -> None:
        super().__init__(Level.PARTITION)
        self.rendered: list[Format] = []

    def _render(self, scrape: Scrape, form: Format) -> bytes:
        self.rendered.append(form)
        return super()._render(scrape, form)

    def request(self, accept: str, encoding: str = "") -> str:
        """Request the metrics; return the content type."""
        types = []

        def start(_: str, headers: list[tuple[str, str]]) -> None:
            types.append(dict(headers)["Content-Type"])

        assert b"".join(self({"HTTP_ACCEPT": accept, "HTTP_ACCEPT_ENCODING": encoding}, start))
        return types[0]


def unusual_headers() -> list[str]:
    versions = [f"{number}.{number}.0" for number in range(20)]
    return [
        f"{media};version={version};escaping={escaping};q=0.{len(version)}"
        for media in ("application/openmetrics-text", "text/plain", "text/html", "*/*")
        for version in versions
        for escaping in ("allow-utf-8", "dots", "values", "underscores", "x" * 100)
    ]


def test_new_accept_headers_add_no_work() -> None:
    served = Counting()
    types = {served.request(accept, encoding) for accept in unusual_headers() for encoding in ("", "gzip", "br;q=1")}
    assert types == {Format(True, False).content_type, Format(False, False).content_type}
    assert len(served.rendered) == 4
    served.publish(Scrape(scrapes=1, up=True))
    assert len(served.rendered) == 8


def test_format_that_is_no_longer_requested_is_not_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("kgroups.exporter.exposition.time.monotonic", lambda: now[0])
    served = Counting()
    served.request("text/plain")
    now[0] += exposition.RENDER_AHEAD - 1
    served.request(PROMETHEUS_2, "gzip")
    now[0] += 2
    served.rendered.clear()
    served.publish(Scrape(scrapes=1, up=True))
    assert served.rendered == [Format(True, True)]


def test_concurrent_requests_render_once() -> None:
    clients = 8
    together = threading.Barrier(clients)
    served = Counting()

    def request(_: int) -> str:
        together.wait(30)
        return served.request("text/plain")

    with ThreadPoolExecutor(clients) as pool:
        assert len(set(pool.map(request, range(clients)))) == 1
    assert served.rendered == [Format(False, False)]


@pytest.mark.parametrize(
    ("accept", "openmetrics"),
    [
        (PROMETHEUS_2, True),
        (PROMETHEUS_3, True),
        ("application/openmetrics-text", True),
        ("text/plain, application/openmetrics-text", False),
        ("application/openmetrics-text; version=0.0.1", False),
        ("", False),
        ("*/*", False),
        (";;,;", False),
    ],
)
def test_format_is_the_first_that_the_client_accepts(accept: str, openmetrics: Any) -> None:
    assert Format.of(accept, "") == Format(openmetrics, False)
