"""Run commands in this process; fake brokers run on a thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kgroups.cli.main import main
from tests.fakes.broker import FakeCluster
from tests.schemas import validate_files, validate_output


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run_cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command; it must not print a traceback."""

    def run(*arguments: str) -> Ran:
        began = time.time_ns()
        code = main(arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        validate_output(arguments, out)
        validate_files(arguments if code < 2 else (), began)
        return Ran(code, out, err)

    return run


class Served:
    """A fake cluster that answers while commands run; change its state, then ask."""

    def __init__(self, fake: FakeCluster) -> None:
        self.fake = fake
        self.state = fake.state

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{broker.port}" for broker in self.fake.brokers.values())


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Start fake clusters on a thread; they stop after the test, and an error in them fails it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def on_loop(what: object) -> None:
        asyncio.run_coroutine_threadsafe(what, loop).result(60)  # type: ignore[arg-type]

    started: list[FakeCluster] = []

    def start(brokers: int = 2, versions: str = "4.3.1", fill: Callable[[FakeCluster], None] | None = None) -> Served:
        fake = FakeCluster(brokers, versions)
        if fill:
            fill(fake)
        on_loop(fake.__aenter__())
        started.append(fake)
        return Served(fake)

    try:
        yield start
        for fake in started:
            on_loop(fake.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def serve_in_virtual_time(virtual_time: None) -> Iterator[Callable[..., Served]]:
    """Start fake clusters on the event loop of the commands: a wait ends when no broker has anything to do."""
    loop = asyncio.new_event_loop()
    started: list[FakeCluster] = []

    def start(brokers: int, fill: Callable[[FakeCluster], None]) -> Served:
        fake = FakeCluster(brokers)
        fill(fake)
        loop.run_until_complete(fake.__aenter__())
        started.append(fake)
        return Served(fake)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.get_event_loop_policy(), "new_event_loop", lambda: loop)
        patch.setattr(loop, "close", lambda: None)  # asyncio.run closes it after each command
        yield start
        for fake in started:
            loop.run_until_complete(fake.__aexit__(None, None, None))
    loop.close()


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write the file of profiles, each with its servers."""

    def write(more: str = "", **servers: str) -> None:
        file = tmp_path / "config.toml"
        tables = [f'[profiles.{name}]\nbootstrap = "{each}"\n' for name, each in servers.items()]
        file.write_text("".join(tables) + more)
        monkeypatch.setenv("KGROUPS_CONFIG", str(file))

    return write
