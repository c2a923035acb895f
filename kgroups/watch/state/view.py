"""What a user of the full-screen watch has chosen: page, cursor, order, and filters. There is no screen here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from kgroups.errors import KgroupsError
from kgroups.model.severity import Severity

from .arrange import EVERYTHING, Compile, Order, arrange, filter_of
from .cluster_totals import Summary, summary_of
from .reset_dialog import ResetDialog, Step
from .watching import GroupKey, WatchRow

_LONGEST = 249


class Page(Enum):
    """The page on the screen."""

    GROUPS = "groups"
    GROUP = "group"
    EXPLAIN = "explain"
    HELP = "help"
    RESET = "reset"
    CLUSTERS = "clusters"


class View:
    """The choices so far; :meth:`press` applies a key."""

    def __init__(self, compile_regex: Compile) -> None:
        self.order = Order.STATUS
        self.backwards = False
        self.pattern = ""
        self.filter = EVERYTHING
        self.invalid = ""
        """Why the pattern is invalid; the last valid filter still applies."""
        self.typing = False
        self.paused = False
        self.problems = False
        self.lagging = False
        self.changed = False
        self.type: str | None = None
        self.page = Page.GROUPS
        self.cursor: GroupKey | None = None
        self.top = 0
        self.scrolled = 0
        self.height = 20
        self.done = False
        self.reset: ResetDialog | None = None
        self.several = False
        """Whether groups of several clusters are watched."""
        self.rows: Sequence[WatchRow] = ()
        self.shown: list[WatchRow] = []
        self.summary: Summary | None = None
        """The totals of all groups; filters do not change them. ``None`` before the first refresh."""
        self._compile = compile_regex
        self._at = 0
        self._under: list[tuple[Page, int]] = []
        """The pages to which :meth:`back` returns, and how far they are scrolled."""

    def show(self, rows: Sequence[WatchRow]) -> None:
        """Take the rows of a refresh; the cursor stays on its group, or, if that is gone, on its line."""
        self.rows = rows
        self.summary = summary_of(rows)
        self._arrange()

    @property
    def at(self) -> int:
        """The index of the cursor in :attr:`shown`."""
        return self._at

    def resize(self, height: int) -> None:
        """Set the number of lines for rows."""
        self.height = max(1, height)
        self._reveal()

    def move(self, lines: int) -> None:
        """Move the cursor, or scroll a page of text."""
        if self.page is Page.GROUPS:
            self.put(self._at + lines)
        else:
            self.scrolled = max(0, self.scrolled + lines)

    def scroll(self, lines: int) -> None:
        """Scroll, as a mouse wheel does: the cursor moves only as far as it must to remain visible."""
        if self.page is Page.GROUPS:
            self.top = max(0, min(self.top + lines, len(self.shown) - self.height))
            self.put(max(self.top, min(self._at, self.top + self.height - 1)))
        else:
            self.move(lines)

    def put(self, index: int) -> None:
        """Put the cursor on a row."""
        self._at = max(0, min(index, len(self.shown) - 1))
        self.cursor = self.shown[self._at].key if self.shown else None
        self._reveal()

    def press(self, key: str) -> None:
        """Apply a key: a character, or a name such as ``pageup``."""
        if self.typing:
            self._type(key)
        elif self.page is Page.RESET and self.reset is not None and self._is_for_dialog(key):
            if self.reset.press(key):
                self.back()
        elif key in _MOVES:
            self.move(_MOVES[key](self.height))
        elif key in _KEYS:
            _KEYS[key](self)

    def _is_for_dialog(self, key: str) -> bool:
        is_field = self.reset is not None and self.reset.step is Step.TARGET and key in ("up", "down")
        return is_field or len(key) == 1 or key not in _MOVES

    def paste(self, text: str) -> None:
        """Type the first line of a text, if text can be typed now."""
        if self.typing or self.page is Page.RESET:
            for char in text.strip().partition("\n")[0].rstrip():
                self.press(char)

    def enter(self, page: Page) -> None:
        """Go to a page; :meth:`back` returns."""
        self._under.append((self.page, self.scrolled))
        self.page, self.scrolled = page, 0

    def back(self) -> None:
        """Leave the page, or drop the filter."""
        if self.page is Page.RESET:
            self.reset = None
        if self._under:
            self.page, self.scrolled = self._under.pop()
        elif self.pattern:
            self.pattern = ""
            self._refilter()

    def quit(self) -> None:
        """Leave the page; end on the first one."""
        if self.page is Page.GROUPS:
            self.done = True
        else:
            self.back()

    def open(self) -> None:
        """Open the group at the cursor."""
        if self.page is Page.GROUPS and self.cursor is not None:
            self.enter(Page.GROUP)

    def explain(self) -> None:
        """Explain the open group, or the one at the cursor."""
        if self.page in (Page.GROUPS, Page.GROUP) and self.cursor is not None:
            self.enter(Page.EXPLAIN)

    def open_neighbor(self, step: int) -> None:
        """Show the next or the previous group of the list on the same page."""
        if self.page in (Page.GROUP, Page.EXPLAIN):
            self.put(self._at + step)
            self.scrolled = 0

    def plan_reset(self) -> None:
        """Begin to plan a reset of the open group."""
        if self.page is Page.GROUP and self.cursor is not None:
            self.enter(Page.RESET)
            self.reset = ResetDialog(self.cursor)

    def show_clusters(self) -> None:
        """Show the totals of each cluster, or go back to the groups."""
        if self.page is Page.CLUSTERS:
            self.back()
        elif self.several and self.page is Page.GROUPS:
            self.enter(Page.CLUSTERS)

    def help(self) -> None:
        """Show the keys."""
        if self.page is not Page.HELP:
            self.enter(Page.HELP)

    def sort_by(self, step: int) -> None:
        """Sort by the next or the previous column."""
        orders = [each for each in Order if self.several or each is not Order.CLUSTER]
        self.order = orders[(orders.index(self.order) + step) % len(orders)]
        self._arrange()

    def sort(self, order: Order) -> None:
        """Sort by a column, or reverse the order if it already is."""
        if self.order is order:
            self.backwards = not self.backwards
        else:
            self.order, self.backwards = order, False
        self._arrange()

    def toggle(self, name: str) -> None:
        """Switch ``backwards``, ``paused``, ``problems``, ``lagging``, or ``changed``."""
        setattr(self, name, not getattr(self, name))
        self._arrange()

    def next_type(self) -> None:
        """Show only the next type of the groups, after the last one all types."""
        types: list[str | None] = [None, *sorted({row.type for row in self.rows})]
        self.type = types[(types.index(self.type) + 1) % len(types)] if self.type in types else None
        self._arrange()

    def type_filter(self) -> None:
        """Start to type a filter."""
        if self.page is Page.GROUPS:
            self.typing = True

    def _type(self, key: str) -> None:
        if key == "enter":
            self.typing = bool(self.invalid)
        elif key == "escape":
            self.typing, self.pattern = False, ""
        elif key == "backspace":
            self.pattern = self.pattern[:-1]
        elif key in ("ctrl+u", "ctrl+w"):
            self.pattern = ""
        elif len(key) == 1 and len(self.pattern) < _LONGEST:
            self.pattern += key
        self._refilter()

    def _refilter(self) -> None:
        try:
            self.filter, self.invalid = filter_of(self.pattern, self._compile), ""
        except KgroupsError as error:
            self.invalid = str(error)
        self._arrange()

    def _arrange(self) -> None:
        tests: list[Callable[[WatchRow], bool]] = []
        if self.problems:
            tests.append(lambda row: row.status.severity is not Severity.OK)
        if self.lagging:
            tests.append(lambda row: row.total_lag != 0 or bool(row.remark))
        if self.changed:
            tests.append(lambda row: bool(row.changed))
        if self.type is not None:
            tests.append(lambda row: row.type == self.type)
        if self.pattern:
            shows, several = self.filter.shows, self.several
            tests.append(lambda row: shows(row.group, row.cluster) if several else shows(row.group))
        rows = [row for row in self.rows if all(test(row) for test in tests)] if tests else self.rows
        self.shown = arrange(rows, self.order, backwards=self.backwards)
        found = next((index for index, row in enumerate(self.shown) if row.key == self.cursor), None)
        if self.page is Page.GROUPS or found is not None:  # an open group that was deleted stays open
            self.put(self._at if found is None else found)

    def _reveal(self) -> None:
        self.top = max(0, min(self.top, len(self.shown) - self.height))
        self.top = min(max(self.top, self._at - self.height + 1), self._at)


CLUSTERS = "b"
"""The key of the page of several clusters."""
_END = 10**9
_MOVES: dict[str, Callable[[int], int]] = {
    "up": lambda height: -1,
    "k": lambda height: -1,
    "down": lambda height: 1,
    "j": lambda height: 1,
    "pageup": lambda height: -height,
    "ctrl+b": lambda height: -height,
    "pagedown": lambda height: height,
    "ctrl+f": lambda height: height,
    "home": lambda height: -_END,
    "g": lambda height: -_END,
    "end": lambda height: _END,
    "G": lambda height: _END,
}
_KEYS: dict[str, Callable[[View], None]] = {
    "enter": View.open,
    "escape": View.back,
    "q": View.quit,
    "?": View.help,
    "h": View.help,
    "f1": View.help,
    "/": View.type_filter,
    "d": View.open,
    "e": View.explain,
    "s": lambda view: view.sort_by(1),
    ">": lambda view: view.sort_by(1),
    "<": lambda view: view.sort_by(-1),
    "S": lambda view: view.sort(Order.STATUS),
    "N": lambda view: view.sort(Order.GROUP),
    "L": lambda view: view.sort(Order.LAG),
    "r": lambda view: view.toggle("backwards"),
    "space": lambda view: view.toggle("paused"),
    " ": lambda view: view.toggle("paused"),
    "p": lambda view: view.toggle("problems"),
    "ctrl+z": lambda view: view.toggle("problems"),
    "l": lambda view: view.toggle("lagging"),
    "c": lambda view: view.toggle("changed"),
    "t": View.next_type,
    "R": View.plan_reset,
    "]": lambda view: view.open_neighbor(1),
    "[": lambda view: view.open_neighbor(-1),
    CLUSTERS: View.show_clusters,
}
HELP = (
    ("Up Down j k", "move the cursor"),
    ("PgUp PgDn Home End g G", "move by a page, to the first or to the last group"),
    ("Enter d", "open the group at the cursor"),
    ("e", "explain the group: its status and findings, then the evidence about its partitions that lag"),
    ("] [", "on the page of a group or its explanation: the next or the previous group of the list"),
    ("Esc", "go back, or drop the filter"),
    ("/", "filter the names of groups, regardless of case:"),
    ("  pay", "names that contain this text"),
    ("  pay*  p?y  [ab]*", "globs: whole names, as for other commands"),
    ("  /^pay|dlq$/", "a regular expression (RE2); ^, $, or | also make it one"),
    ("  ~pay-[0-9]+", "a regular expression of whole, case-sensitive names, as for --regex"),
    ("  !pay", "! in front of any of them inverts it"),
    ("s > <", "sort by the next column, or by the previous one"),
    ("S N L", "sort by status, by name, by lag; again: reverse"),
    ("r", "reverse the order"),
    ("p Ctrl-Z", "show only groups that are critical, warning, or unknown"),
    ("l c t", "show only groups with lag or unknown lag, only changed groups, only the next type"),
    ("Space", "pause"),
    ("y", "copy the command that shows the same to the clipboard"),
    ("R", "plan a reset of the group (on its page); executing requires typing its name"),
    (CLUSTERS, "show the totals and the failures of each cluster"),
    ("mouse", "click a header: sort by it, again: reverse; click a group, double click: open; wheel: scroll"),
    ("? h F1", "show this page"),
    ("q", "go back; on the first page quit. Ctrl-C quits anywhere"),
)
"""The keys and what they do."""
