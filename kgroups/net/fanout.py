"""Run coroutines: one to its end, or many jobs at once with the result or the error of each."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import closing
from typing import Any, TypeVar

from kgroups.errors import KgroupsError

K = TypeVar("K")
T = TypeVar("T")


class Runner:
    """Runs coroutines on one event loop, as ``asyncio.Runner``; an interrupt ends quietly: no task logs an error."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._interrupted = False

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        self._runner.get_loop().set_exception_handler(self._report)
        try:
            return self._runner.run(main)
        except KeyboardInterrupt:
            self._interrupted = True
            raise

    def close(self) -> None:
        self._runner.close()

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not self._interrupted and not isinstance(context.get("exception"), KgroupsError):
            loop.default_exception_handler(context)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as ``asyncio.run``, with a :class:`Runner`."""
    with closing(Runner()) as runner:
        return runner.run(main)


async def fan_out(jobs: Iterable[tuple[K, Awaitable[T]]]) -> list[tuple[K, T | KgroupsError]]:
    """Run all jobs together; return each key with its result or its :class:`KgroupsError`.

    Any other exception is a bug or a cancellation: it is raised, and the other jobs are canceled.
    """
    keys, tasks = [], []
    for key, job in jobs:
        keys.append(key)
        tasks.append(asyncio.ensure_future(job))

    def end_all_on_a_bug(task: asyncio.Future[Any]) -> None:
        if not task.cancelled() and _is_bug(task.exception()):
            for other in tasks:
                other.cancel()

    for task in tasks:
        task.add_done_callback(end_all_on_a_bug)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    bugs = [result for result in results if isinstance(result, BaseException) and _is_bug(result)]
    if bugs:
        raise next((bug for bug in bugs if not isinstance(bug, asyncio.CancelledError)), bugs[0])
    return list(zip(keys, results, strict=True))  # type: ignore[arg-type]  # only results and KgroupsErrors are left


async def as_answered(jobs: Iterable[tuple[K, Awaitable[T]]]) -> AsyncGenerator[tuple[K, T | KgroupsError]]:
    """Run all jobs together; yield each key with its result or its :class:`KgroupsError` as soon as it is available.

    Closing the generator, and any other exception of a job, cancels the jobs that are left.
    """
    keys = {asyncio.ensure_future(job): key for key, job in jobs}
    pending = set(keys)
    try:
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = None if task.cancelled() else task.exception()
                yield keys[task], error if isinstance(error, KgroupsError) else task.result()
    finally:
        for task in keys:
            task.cancel()
        await asyncio.gather(*keys, return_exceptions=True)


async def staggered(
    jobs: Iterable[tuple[K, Callable[[], Awaitable[T]]]], pause: float
) -> AsyncGenerator[tuple[K, T | KgroupsError]]:
    """Start one job after the other; yield each key with its result or its error as soon as it is available.

    A job starts when the one before has ended, or ``pause`` seconds after that has started. Closing the generator, and
    any other exception of a job, cancels the jobs that are left.
    """
    loop = asyncio.get_running_loop()
    waiting = deque(jobs)
    keys: dict[asyncio.Future[T], K] = {}
    pending: set[asyncio.Future[T]] = set()
    newest: asyncio.Future[T] | None = None
    turn = 0.0
    try:
        while waiting or pending:
            if waiting and (newest is None or newest.done() or loop.time() >= turn):
                key, job = waiting.popleft()
                newest = asyncio.ensure_future(job())
                keys[newest] = key
                pending.add(newest)
                turn = loop.time() + pause
            left = max(0.0, turn - loop.time()) if waiting else None
            done, pending = await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = None if task.cancelled() else task.exception()
                yield keys.pop(task), error if isinstance(error, KgroupsError) else task.result()
    finally:
        for task in keys:
            task.cancel()
        await asyncio.gather(*keys, return_exceptions=True)


def _is_bug(error: BaseException | None) -> bool:
    return error is not None and not isinstance(error, KgroupsError)
