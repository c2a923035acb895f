"""Measure fetching the same bytes with and without decoding: ``python wire.py BOOTSTRAP``.

One process does both, one after the other, and prints a line of JSON:

- ``fetch``: kgroups requests everything that ``describe --all-groups`` shows and decodes it into the model, like the
  command, but without connecting and rendering.
- ``floor``: the same request frames again, over plain blocking sockets, with one thread per broker and as many requests
  in flight as kgroups has; the responses are read into one buffer and discarded. Unlike real requests, none waits for
  the response to another, so no client can be faster.
"""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from kgroups.admin.query.describe import describe_offsets
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.routing.backoff import BATCHES
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net import connection
from kgroups.net.cluster import Cluster
from kgroups.protocol.framing import encode_request

Address = tuple[str, int]
Frames = dict[Address, list[bytes]]


def main(bootstrap: str) -> None:
    gc.disable()  # as the command does
    print(json.dumps(asyncio.run(_both(bootstrap))))


async def _both(bootstrap: str) -> dict[str, float]:
    settings = ClientSettings(parse_bootstrap(bootstrap), timeout=300, broker_timeout=300)
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        # a first request loads every module and connects to every broker: start-up is measured elsewhere
        await describe_offsets(cluster, Selection(("stable-00000", "empty-00000")))
        recorder = _Recorder()
        fetch = _Clock()
        outcome = await describe_offsets(cluster, Selection(everything=True))
        measured = fetch.stop("fetch")
        recorder.stop()
    measured["groups"] = len(outcome.items)
    measured["rows"] = sum(len(commits) for item in outcome.items for commits in item.commits.topics.values())
    measured["failures"] = len(outcome.failures)
    measured["requests"] = sum(map(len, recorder.frames.values()))
    floor = _Floor(recorder.frames)
    clock = _Clock()
    measured["bytes"] = floor.replay()
    return measured | clock.stop("floor")


class _Clock:
    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def stop(self, name: str) -> dict[str, float]:
        return {f"{name}_wall": time.perf_counter() - self._wall, f"{name}_cpu": time.process_time() - self._cpu}


class _Recorder:
    """Records every sent frame, by broker."""

    def __init__(self) -> None:
        self.frames: Frames = {}
        self._exchange, self._encode = connection.Connection.exchange, encode_request
        here = self
        address: list[Address] = []

        async def exchange(self: Any, *arguments: Any, **options: Any) -> bytes:
            # no other task runs until the frame is sent, so that the next encoded frame belongs to this call
            address[:] = [self._transport.get_extra_info("peername")[:2]]
            return await here._exchange(self, *arguments, **options)

        def encode(*arguments: Any) -> bytes:
            frame = here._encode(*arguments)
            here.frames.setdefault(address[0], []).append(frame)
            return frame

        self._put(exchange, encode)

    def stop(self) -> None:
        self._put(self._exchange, self._encode)

    @staticmethod
    def _put(exchange: Callable[..., Any], encode: Callable[..., Any]) -> None:
        setattr(connection.Connection, "exchange", exchange)  # noqa: B010
        setattr(connection, "encode_request", encode)  # noqa: B010


class _Floor:
    """Open connections to all brokers, and the frames to replay."""

    def __init__(self, frames: Frames) -> None:
        self._lanes = [(socket.create_connection(address), sent) for address, sent in frames.items()]
        self._received = [0] * len(self._lanes)

    def replay(self) -> int:
        """Send all frames, read all responses, and return the number of received bytes."""
        threads = [threading.Thread(target=self._lane, args=(at, *lane)) for at, lane in enumerate(self._lanes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(self._received)

    def _lane(self, at: int, broker: socket.socket, frames: list[bytes]) -> None:
        buffer = memoryview(bytearray(1 << 20))
        for number, frame in enumerate(frames):
            broker.sendall(frame)
            if number >= BATCHES:
                self._received[at] += _read_frame(broker, buffer)
        for _ in frames[-BATCHES:]:
            self._received[at] += _read_frame(broker, buffer)


def _read_frame(broker: socket.socket, buffer: memoryview) -> int:
    """Read one response into the buffer, overwriting it, and return its size in bytes."""
    broker.recv_into(buffer[:4], 4, socket.MSG_WAITALL)
    length = left = int.from_bytes(buffer[:4], "big")
    while left:
        got = broker.recv_into(buffer, min(left, len(buffer)))
        if not got:
            raise ConnectionError("a broker closed the connection")
        left -= got
    return length + 4


if __name__ == "__main__":
    main(sys.argv[1])
