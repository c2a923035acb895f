"""An event loop on its own thread, for callers that have none or must not block it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_GRACE = 1.0
"""Seconds that a cancelled question has to close its connections."""


class LoopThread:
    """An event loop on its own thread, so that it also serves notebooks, whose thread has a running loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kgroups", daemon=True)
        self._thread.start()

    def start(self, question: Coroutine[Any, Any, T]) -> Future[T]:
        """Return the future of the result."""
        return asyncio.run_coroutine_threadsafe(question, self._loop)

    def run(self, question: Coroutine[Any, Any, T]) -> T:
        """Wait for the result. Ctrl-C cancels the question."""
        future = self.start(question)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """End the loop when cancelled questions have closed their connections."""

        async def ended() -> None:
            if others := asyncio.all_tasks() - {asyncio.current_task()}:
                _, hanging = await asyncio.wait(others, timeout=_GRACE)
                for task in hanging:
                    task.cancel()
            await self._loop.shutdown_asyncgens()
            await self._loop.shutdown_default_executor()

        try:
            self.start(ended()).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
