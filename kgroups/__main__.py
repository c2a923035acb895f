"""The entry points: ``python -m kgroups``, ``kgroups``, and the replacements of Kafka's tools."""

from __future__ import annotations

# Not signal, which imports enum: an interrupt during that import would print a traceback.
import _signal as signal  # type: ignore[import-not-found]
from collections.abc import Sequence


def main() -> None:
    _end_on_interrupt()
    from kgroups.cli.frame.exit_status import run_and_exit

    run_and_exit(_run)


def _run(arguments: Sequence[str]) -> int:
    from kgroups.cli.main import main as run  # after the garbage collector is disabled

    return run(arguments)


def _end_on_interrupt() -> None:
    """End the process on Ctrl-C during imports, without a traceback; ``cli.frame.exit_status`` handles it later."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _run_tool(name: str) -> None:
    _end_on_interrupt()
    from importlib import import_module

    import_module(f"kgroups.dropins.{name}").main()


def consumer_groups() -> None:
    _run_tool("consumer_groups")


def share_groups() -> None:
    _run_tool("share_groups")


def groups() -> None:
    _run_tool("groups")


def streams_groups() -> None:
    _run_tool("streams_groups")


def streams_application_reset() -> None:
    _run_tool("streams_application_reset")


if __name__ == "__main__":
    main()
