"""Java's own consumers in groups of their own: one JVM for all of them, which leave with it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kgroups.sandbox import kafka_version
from kgroups.sandbox.jars import ensure_jars
from tests.integration.java_program import java_command
from tests.integration.record_oracle import VERSION

_PROGRAM: Final = Path(__file__).with_name("JavaMembers.java")


class JavaMembers:
    """A context manager; they stay while it is open."""

    def __init__(self, bootstrap: str, log: Path) -> None:
        jars = ensure_jars(kafka_version(VERSION))
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            java_command(_PROGRAM, [jars], bootstrap),
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def join(self, client_id: str, group: str, topics: tuple[str, ...], *settings: str) -> None:
        """One more."""
        self._ask(client_id, group, ",".join(topics), *settings)

    def leave(self, client_id: str) -> None:
        self._ask("leave", client_id)

    def _ask(self, *words: str) -> None:
        assert self._process.stdin and self._process.poll() is None, Path(self._log.name).read_text()[-2000:]
        self._process.stdin.write(" ".join(words) + "\n")
        self._process.stdin.flush()

    def last(self, event: str, client_id: str) -> str | None:
        """Return what the last line of this event reports about a member, ``assigned`` or ``failed``."""
        start = f"{event} {client_id} "
        lines = Path(self._log.name).read_text().splitlines()
        return next((line.removeprefix(start) for line in reversed(lines) if line.startswith(start)), None)

    def first_record(self, client_id: str, topic: str, partition: int = 0, *, within: float = 60.0) -> int | None:
        """Return the offset of the first record that a member reads in a partition; ``None`` if it reads none."""
        start = f"first {client_id} {topic} {partition} "
        end = time.monotonic() + within
        while time.monotonic() < end:
            for line in Path(self._log.name).read_text().splitlines():
                if line.startswith(start):
                    return int(line.removeprefix(start))
            time.sleep(0.1)
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        try:
            code = self._process.wait(60)  # or they stay until their sessions are over
            assert error or code == 0, Path(self._log.name).read_text()[-2000:]
        finally:
            self._process.kill()
            self._process.wait()
            self._log.close()
