"""Collect in a process that ends by SIGKILL at one of its writes to the store.

Started once, as ``python -m tests.integration.killed_collector BOOTSTRAP``. Each line of stdin is a store's location
and the number of a write, as JSON; each line of stdout is the exit code of the process that collected.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, NoReturn

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.history.jobs.collect import Plan, collect
from kgroups.history.load.storage import Storage
from kgroups.history.load.store import Store


def kill_at(write: int) -> None:
    """Let this process die before it creates, replaces, or deletes a file, or before the end of an upload."""
    writes = count(1)

    def step() -> None:
        if next(writes) == write:
            os.kill(os.getpid(), signal.SIGKILL)

    def stepping(real: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            step()
            return real(*arguments, **options)

        return call

    real_writing = Storage.writing

    @contextmanager
    def writing(storage: Storage, name: str) -> Iterator[Any]:
        step()
        with real_writing(storage, name) as file:
            yield file
            step()

    patched: Any = Storage
    patched.writing = writing
    for name in ("create", "replace", "delete"):
        setattr(Storage, name, stepping(getattr(Storage, name)))


def collect_and_exit(settings: ClientSettings, location: str, write: int | None) -> NoReturn:
    code = 1
    try:
        if write is not None:
            kill_at(write)
        collect(_without_spark, Store(location), Plan(settings, max_records=150), small=sys.maxsize)
        code = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    os._exit(code)


def _without_spark() -> NoReturn:
    raise AssertionError("a small batch is read without Spark")


def main(bootstrap: str) -> None:
    settings = ClientSettings(parse_bootstrap(bootstrap), timeout=20)
    for line in sys.stdin:
        location, write = json.loads(line)
        child = os.fork()
        if child == 0:
            collect_and_exit(settings, location, write)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
