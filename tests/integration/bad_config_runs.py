"""Run all invalid client configurations of a cluster concurrently."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from kgroups.config.settings import Transport
from kgroups.sandbox.security import Secure
from tests.integration.asking import Answer, run_kgroups
from tests.integration.bad_configs import MISUSES, silent_server
from tests.integration.secret_scan import CommandLines

TIMEOUT: Final = "15s"
"""Time enough on a busy machine to hear what is wrong; what hangs takes all of it."""

_AT_ONCE: Final = 4


class Misused(NamedTuple):
    answers: Mapping[tuple[str, Transport], Answer]
    """By misuse; what ``list --debug`` came to."""
    command_lines: set[str]


def try_all(secure: Secure, misuses: list[str], folder: Path) -> Misused:
    """:param folder: for the files that they need."""
    env = {"KRB5_CONFIG": str(secure.kerberos.configuration)} if secure.kerberos else {}

    def ask(cell: tuple[str, Transport]) -> Answer:
        name, transport = cell
        words = ("--timeout", TIMEOUT, "--transport", transport.value, "--debug")
        return run_kgroups("list", "--command-config", str(files[name]), *words, env=env, forked=False)

    with silent_server() as silent, CommandLines() as lines, ThreadPoolExecutor(_AT_ONCE) as pool:
        files = {
            name: secure.write(f"misuse-{name}", MISUSES[name].listener, MISUSES[name].settings(secure, folder, silent))
            for name in misuses
        }
        cells = [(name, Transport.WIRE) for name in misuses]
        cells += [(name, Transport.LIBRDKAFKA) for name in misuses if MISUSES[name].librdkafka is not None]
        answers = dict(zip(cells, pool.map(ask, cells), strict=True))
    return Misused(answers, lines.seen)
