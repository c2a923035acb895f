"""The keys of the live table, and what they do."""

from __future__ import annotations

from kgroups.model.watch.arrange import Order

from .keyboard import ENTER, ERASE, ESCAPE

_LONGEST = 100


class Controls:
    """How the table is sorted and filtered, according to the keys pressed so far."""

    def __init__(self) -> None:
        self.order = Order.LAG
        self.backwards = False
        self.pattern = ""
        self.typing = False
        self.paused = False
        self.done = False

    def press(self, key: str) -> None:
        if self.typing:
            self._type(key)
            return
        match key:
            case "q":
                self.done = True
            case "s":
                orders = list(Order)
                self.order = orders[(orders.index(self.order) + 1) % len(orders)]
            case "r":
                self.backwards = not self.backwards
            case " ":
                self.paused = not self.paused
            case "/":
                self.typing = True

    def _type(self, key: str) -> None:
        if key in ENTER:
            self.typing = False
        elif key == ESCAPE:
            self.typing, self.pattern = False, ""
        elif key in ERASE:
            self.pattern = self.pattern[:-1]
        elif key.isprintable() and len(self.pattern) < _LONGEST:
            self.pattern += key
