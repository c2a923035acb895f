"""The dialog that plans a reset of the open group, shows the dry run, and executes it after the name was typed."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from kgroups.model.groups import GroupId

from .watching import GroupKey

_LONGEST = 1000
_FIRST = "--to-earliest --all-topics"


class Step(Enum):
    """What the dialog waits for."""

    TARGET = "target"
    PLAN = "plan"
    NAME = "name"
    RESULTS = "results"
    OVER = "over"


class ResetDialog:
    """The state of the dialog: press keys, then start what :attr:`step` waits for, and call :meth:`show`."""

    def __init__(self, key: GroupKey) -> None:
        self.key = key
        self.group: GroupId = key.group
        self.step = Step.TARGET
        self.target = _FIRST
        self.name = ""
        self.lines: Sequence[str] = ()
        """The plan or the results, and what is wrong."""

    @property
    def busy(self) -> bool:
        """Whether the dialog waits for brokers."""
        return self.step in (Step.PLAN, Step.RESULTS)

    @property
    def prompt(self) -> str:
        """The line to type into, or what happens."""
        match self.step:
            case Step.TARGET:
                return f"kgroups reset-offsets {self.group} {self.target}_"
            case Step.NAME:
                return f"Type the name of the group to write these offsets: {self.name}_"
            case Step.PLAN:
                return "planning ..."
            case Step.RESULTS:
                return "writing ... (the screen stays open until this finishes)"
            case Step.OVER:
                return "Esc: back"

    def press(self, key: str) -> bool:
        """Apply a key; return whether the dialog is closed by it. While it waits for brokers, keys do nothing."""
        if self.busy:
            return False
        if key == "escape":
            return True
        if self.step is Step.TARGET:
            self.target = _typed(self.target, key)
            if key == "enter" and self.target.strip():
                self.step = Step.PLAN
        elif self.step is Step.NAME:
            self.name = _typed(self.name, key)
            if key == "enter":
                self._confirm()
        return False

    def _confirm(self) -> None:
        if self.name == self.group:
            self.step = Step.RESULTS
        elif self.name:
            self.name = ""

    def show(self, lines: Sequence[str], *, planned: bool = False) -> None:
        """Show a plan or results. Without a planned offset (``planned``), another target may be typed."""
        self.lines = lines
        if self.step is Step.RESULTS:
            self.step = Step.OVER
        else:
            self.step, self.name = (Step.NAME if planned else Step.TARGET), ""


def _typed(text: str, key: str) -> str:
    if key == "backspace":
        return text[:-1]
    if key in ("ctrl+u", "ctrl+w"):
        return ""
    if key == "space":
        key = " "
    return text + key if len(key) == 1 and len(text) < _LONGEST else text
