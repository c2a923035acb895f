"""The dialog that plans a reset of the open group, shows the dry run, and executes it after the name was typed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from enum import Enum

from kgroups.model.groups import GroupId
from kgroups.model.shell import group_words

from .watching import GroupKey

_LONGEST = 1000
_LAST_COLUMN = "DISTANCE"
"""The last column of a plan that has offsets."""
FIELDS = (
    ("Topics", "TOPIC or TOPIC:0,2-5, separated by spaces; * for all partitions with a committed offset"),
    (
        "Move to",
        "earliest, latest, current, offset N, shift -N or shift N, skip N, group NAME, duration 2h, or a time: -1h, "
        "2026-01-31T12:00 (UTC)",
    ),
    ("Options", "optional: more options of kgroups reset-offsets, such as --force or --create-group"),
)
"""The fields of the form, and what can be typed into them."""
_TOPICS, _TARGET, _OPTIONS = range(len(FIELDS))
_FLAGS = ("earliest", "latest", "current")
_VALUES = {
    "offset": "--to-offset",
    "shift": "--shift-by",
    "skip": "--skip-records",
    "group": "--to-group",
    "duration": "--by-duration",
    "datetime": "--to-datetime",
}


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
        self.fields = [""] * len(FIELDS)
        """Empty at first: no key that is pressed by mistake plans a reset."""
        self.at = 0
        """The field to type into."""
        self.name = ""
        self.lines: Sequence[str] = ()
        """The plan or the results, and what is wrong."""
        self.problem = ""
        """Why the last name was not accepted."""
        self.shown_in = 0
        """The width of the window that shows the plan."""
        self.restore: str | None = None
        """The command that restores the old offsets, after they were written to a file."""

    @property
    def busy(self) -> bool:
        """Whether the dialog waits for brokers."""
        return self.step in (Step.PLAN, Step.RESULTS)

    @property
    def target(self) -> str:
        """The options of ``kgroups reset-offsets`` that the fields mean."""
        topics = self.fields[_TOPICS].split()
        scope = ["--all-topics"] if topics == ["*"] else [word for each in topics for word in ("--topic", each)]
        words = [shlex.join(scope), _option(self.fields[_TARGET].strip()), self.fields[_OPTIONS].strip()]
        return " ".join(filter(None, words))

    @property
    def command(self) -> str:
        """The command that the fields mean."""
        return f"kgroups reset-offsets {group_words(self.group)} {self.target}".rstrip()

    def press(self, key: str) -> bool:
        """Apply a key; return whether the dialog is closed by it. While it waits for brokers, keys do nothing."""
        if self.busy:
            return False
        if key == "escape" and self.step is not Step.NAME:
            return True
        if self.step is Step.TARGET:
            self._fill(key)
        elif self.step is Step.NAME:
            self.name, self.problem = _typed(self.name, key), ""
            if key == "enter":
                self._confirm()
            elif key == "escape":
                self.step, self.lines = Step.TARGET, ()
        return False

    def _fill(self, key: str) -> None:
        typed = _typed(self.fields[self.at], key)
        if typed != self.fields[self.at]:
            self.fields[self.at], self.lines = typed, ()
        if key in ("tab", "down"):
            self.at = (self.at + 1) % len(FIELDS)
        elif key in ("shift+tab", "up"):
            self.at = (self.at - 1) % len(FIELDS)
        elif key == "enter":
            missing = [at for at in (_TOPICS, _TARGET) if not self.fields[at].strip()]
            if not missing:
                self.step, self.lines = Step.PLAN, ()
            elif self.at == missing[0]:
                self.lines = (f"{FIELDS[self.at][0]}: must not be empty",)
            else:
                self.at = missing[0]

    @property
    def width(self) -> int:
        """The width that the plan needs, up to its last offset."""
        ends = (line.find(_LAST_COLUMN) + len(_LAST_COLUMN) for line in self.lines if _LAST_COLUMN in line)
        return max(ends, default=0)

    def _confirm(self) -> None:
        if self.name and self.name != self.group:
            self.problem = f"{self.name!r} is not the name of the group: nothing was written"
            self.name = ""
        elif self.name and self.shown_in < self.width:
            self.problem = (
                f"the window must have {self.width} columns to show the offsets of the plan: "
                "nothing was written; enlarge it, or run the command"
            )
        elif self.name:
            self.step = Step.RESULTS

    def show(self, lines: Sequence[str], *, planned: bool = False, restore: str | None = None) -> None:
        """Show a plan or results. Without a planned offset (``planned``), another target may be typed."""
        self.lines, self.restore = lines, restore
        if self.step is Step.RESULTS:
            self.step = Step.OVER
        else:
            self.step, self.name = (Step.NAME if planned else Step.TARGET), ""
        self.problem = ""


def _option(text: str) -> str:
    """Return the option that a target means; options are left as they are, and other texts are times."""
    word, _, value = text.partition(" ")
    word, value = word.removeprefix("to-"), value.strip()
    if not text or text.startswith("--"):
        return text
    if word in _FLAGS and not value:
        return f"--to-{word}"
    if word in _VALUES and value:
        return shlex.quote(f"{_VALUES[word]}={value}")
    return shlex.quote(f"--to-datetime={text}")


def _typed(text: str, key: str) -> str:
    if key == "backspace":
        return text[:-1]
    if key in ("ctrl+u", "ctrl+w"):
        return ""
    if key == "space":
        key = " "
    return text + key if len(key) == 1 and len(text) < _LONGEST else text
