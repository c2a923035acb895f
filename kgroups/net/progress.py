"""The progress of a command."""

from __future__ import annotations


class Progress:
    """Steps of a command in the order in which they began, each with its done and total counts."""

    def __init__(self) -> None:
        self._steps: dict[str, list[int]] = {}

    def clear(self) -> None:
        """Forget all steps, because the following steps repeat them."""
        self._steps.clear()

    def begin(self, step: str, total: int, *, again: bool = False) -> None:
        """Announces ``total`` more things to do in a step.

        :param again: perhaps the same things as before, so that those that are done no longer count.
        """
        counts = self._steps.setdefault(step, [0, 0])
        if again:
            counts[:] = 0, counts[1] - counts[0]
        counts[1] += total

    def advance(self, step: str, done: int = 1) -> None:
        self._steps.setdefault(step, [0, 0])[0] += done

    def __str__(self) -> str:
        return " · ".join(f"{step} {done:,}/{total:,}" for step, (done, total) in self._steps.items() if total)
