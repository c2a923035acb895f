"""``python -m kgroups`` and the ``kgroups`` command."""

from __future__ import annotations

from collections.abc import Sequence


def main() -> None:
    from kgroups.cli.ending import exit_with

    exit_with(_run)


def _run(arguments: Sequence[str]) -> int:
    from kgroups.cli.main import main as run  # once the collector is off

    return run(arguments)


if __name__ == "__main__":
    main()
