"""Poll several clusters in the background, each on its own thread, and serve their metrics."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from queue import SimpleQueue
from typing import Any, NoReturn
from urllib.parse import parse_qs

from kgroups.admin.fleet import PARALLEL
from kgroups.cli.frame.output import print_notice
from kgroups.model.clusters import ClusterAnswer, distinct
from kgroups.model.outcome import Outcome

from .exposition import Exposition, Format
from .metrics import EOF, escape_label
from .pages import respond
from .poller import Poller
from .server import Start


class Clusters:
    """The pollers of the clusters and their metrics, by profile. A cluster of two profiles is polled as the first."""

    def __init__(self, pollers: Mapping[str, Poller], exposition: Callable[[], Exposition]) -> None:
        self._pollers = dict(pollers)
        self._turns = threading.BoundedSemaphore(PARALLEL)
        self._ended: SimpleQueue[BaseException | None] = SimpleQueue()
        self.expositions = {name: exposition() for name in pollers}

    def poll_once(self) -> None:
        """Wait for the first poll of each cluster."""
        for name in self._pollers:
            self._start(name, self._poll)
        for _ in self._pollers:
            self._raise(self._ended.get())
        polled = [ClusterAnswer(name, poller.cluster_id, Outcome()) for name, poller in self._pollers.items()]
        kept, notices = distinct(polled)
        for notice in notices:
            print_notice(notice)
        for name in self._pollers.keys() - {each.cluster for each in kept}:
            self._pollers.pop(name).close()
            del self.expositions[name]

    def run(self, interval: float) -> NoReturn:
        """Poll forever, or until a poll ends with an error that is not one of its cluster."""
        for name in self._pollers:
            self._start(name, partial(self._poll_forever, interval))
        while True:
            self._raise(self._ended.get())

    def not_ready(self) -> str | None:
        """Return why no metrics are served; ``None`` if the last poll of at least one cluster reached it."""
        reasons = {name: exposition.not_ready() for name, exposition in self.expositions.copy().items()}
        if not all(reasons.values()):
            return None
        return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())

    def probe(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        """Serve ``/probe?profile=NAME``: the metrics of one cluster as if there were no others."""
        profile = parse_qs(environ.get("QUERY_STRING", "")).get("profile", [""])[-1]
        exposition = self.expositions.get(profile)
        if exposition is None:
            return respond(start_response, "404 Not Found", "404: use /probe?profile=NAME, with a selected profile")
        return exposition(environ, start_response)

    def __call__(self, environ: dict[str, Any], start_response: Start) -> Iterable[bytes]:
        form = Format.of(environ.get("HTTP_ACCEPT", ""), environ.get("HTTP_ACCEPT_ENCODING", ""))
        families = {name: exposition.families(form) for name, exposition in self.expositions.copy().items()}
        end = EOF if form.openmetrics else b""
        return form.respond(start_response, form.joined([*merge_families(families), end]))

    def _start(self, name: str, work: Callable[[str], None]) -> None:
        def run() -> None:
            try:
                work(name)
            except BaseException as error:  # a bug, which must not end in silence
                self._ended.put(error)
            else:
                self._ended.put(None)

        threading.Thread(target=run, name=f"poll {name}", daemon=True).start()

    def _poll(self, name: str) -> None:
        with self._turns:
            self.expositions[name].publish(self._pollers[name].poll())

    def _poll_forever(self, interval: float, name: str) -> None:
        self._pollers[name].run(interval, self.expositions[name].publish, self._turns)

    @staticmethod
    def _raise(error: BaseException | None) -> None:
        if error:
            raise error


_HEAD = re.compile(rb"(?:#.*\n)*")
_NAME = re.compile(rb"^(\w+)(\{)?", re.MULTILINE)


def merge_families(families: Mapping[str, Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the text of each family: its head, and then the samples of all clusters.

    :param families: the texts of the same families, in the same order, by the name of the cluster.
    """
    labels = [f'cluster="{escape_label(name)}"'.encode() for name in families]
    for texts in zip(*families.values(), strict=True):
        heads = [_end_of_head(text) for text in texts]
        yield texts[0][: heads[0]]
        for text, head, label in zip(texts, heads, labels, strict=True):
            yield _with_label(text[head:], label)


def _end_of_head(text: bytes) -> int:
    found = _HEAD.match(text)
    return found.end() if found else 0


def _with_label(samples: bytes, label: bytes) -> bytes:
    """Return samples with a label before their own; a line break in a label is escaped, so that each has one line."""

    def add(name: re.Match[bytes]) -> bytes:
        return name[1] + b"{" + label + (b"," if name[2] else b"}")

    return _NAME.sub(add, samples)
