"""A fake cluster that runs on a thread: for clients with their own event loop or in another process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .broker import FakeCluster


@contextmanager
def serving(fake: FakeCluster) -> Iterator[FakeCluster]:
    """Brokers that are up inside the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="fake-cluster", daemon=True)
    thread.start()

    try:
        asyncio.run_coroutine_threadsafe(fake.__aenter__(), loop).result(60)
        try:
            yield fake
        finally:
            asyncio.run_coroutine_threadsafe(fake.__aexit__(), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()
