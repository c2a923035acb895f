"""How far a command has come; written by those who work, read by whoever shows it."""

from __future__ import annotations


class Progress:
    """Steps under way, each with how much of it is done; in the order in which they began."""

    def __init__(self) -> None:
        self._steps: dict[str, list[int]] = {}

    def begin(self, step: str, total: int) -> None:
        """Announces ``total`` more things to do in a step."""
        self._steps.setdefault(step, [0, 0])[1] += total

    def advance(self, step: str, done: int = 1) -> None:
        self._steps.setdefault(step, [0, 0])[0] += done

    def __str__(self) -> str:
        return " · ".join(f"{step} {done:,}/{total:,}" for step, (done, total) in self._steps.items())
