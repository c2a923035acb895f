"""Make the pictures of the site from real runs, on brokers of a sandbox: ``make docs-pictures``.

``make readme-pictures`` makes only those of README, which are in git, because GitHub cannot make them. ``make screens``
writes the text of the screens that are used most, at four widths, to build/screens/. Each picture is
what a terminal of tmux shows, as SVG, or what Chromium shows of the history report and of the Grafana dashboards, as
PNG; all for light and for dark screens, in build/pictures/. A cast shows several commands one after the other. A page
shows a picture where it has ``<!-- picture: NAME: TEXT -->``.
"""

from __future__ import annotations

import io
import itertools
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cast import cast
from dashboard_pictures import KGROUPS, dashboards, prepare
from repository import PICTURES, README_PICTURES, SCREEN_TEXTS
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

from kgroups.sandbox.traffic import traffic

SANDBOX = "pictures"
_NUMBERS = itertools.count()
LIMIT = 300.0


class Run(NamedTuple):
    """A command line, the size of its terminal, and for a live screen, a text that it shows when it is complete."""

    command: str
    columns: int = 110
    lines: int = 30
    until: str = ""


RUNS = {
    "list": Run("kgroups list --state --type", lines=32),
    "describe": Run("kgroups describe orders-range --columns group,topic,partition,current_offset,log_end_offset,lag"),
    "lag": Run("kgroups lag --top 6 --time"),
    "explain": Run("kgroups explain billing-deleted-topic"),
    "check": Run("kgroups check orders-range payments-lagging --state stable --max-lag 60 --verbose"),
    "watch": Run("kgroups watch --interval 2s", 120, 32, until="#6"),
}
README_RUNS = {
    "readme-watch": Run("kgroups watch --interval 2s", 120, 22, until="#20"),
    "readme-lagging": Run("kgroups explain --lagging data-lost orders-range ledger-reader", lines=40),
}
SCREENS = {
    "list": Run("kgroups list --state --type"),
    "describe": Run("kgroups describe orders-range payments-uncommitted"),
    "members": Run("kgroups describe orders-range --members --verbose"),
    "lag": Run("kgroups lag --time"),
    "explain": Run("kgroups explain payments-uncommitted"),
    "lagging": Run("kgroups explain --lagging"),
    "owners": Run("kgroups owners orders:5"),
    "check": Run("kgroups check --all-groups --max-lag 40"),
    "reset": Run("kgroups reset-offsets payments-empty orders-range --all-topics --to-earliest"),
    "watch": Run("kgroups watch --interval 2s", until="#6"),
}
WIDTHS = {80: 24, 100: 30, 120: 40, 200: 50}
"""Columns -> lines of a terminal. What is not a live screen has as many lines as it needs."""
CASTS = {
    "incident": (
        Run("kgroups lag --top 3"),
        Run("kgroups explain payments-lagging --partition payments:0 --stuck-after 10s"),
        Run("kgroups check payments-empty --stopped --verbose"),
        Run("kgroups reset-offsets payments-empty --topic payments:1 --skip-records 1"),
    ),
}
LIGHT = TerminalTheme(
    (255, 255, 255),
    (31, 31, 30),
    [(31, 31, 30), (170, 0, 0), (0, 110, 40), (130, 85, 0), (0, 70, 180), (130, 30, 130), (0, 105, 115), (90, 90, 90)],
    [
        (90, 90, 90),
        (190, 20, 20),
        (0, 120, 50),
        (140, 90, 0),
        (30, 90, 200),
        (150, 40, 150),
        (0, 115, 125),
        (20, 20, 20),
    ],
)
THEMES = {"light": LIGHT, "dark": SVG_EXPORT_THEME}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DARK = "--blink-settings=preferredColorScheme=0"


class Tmux:
    """A terminal without a window, in which one command runs."""

    def __init__(self, run: Run, bootstrap: str) -> None:
        environment = {"TERM": "xterm-256color", "KGROUPS_BOOTSTRAP_SERVER": bootstrap}
        self._socket = f"kgroups-pictures-{next(_NUMBERS)}"  # a server that ends does not accept new terminals
        settings = " ".join(f"{name}={value}" for name, value in environment.items())
        command = run.command.replace("kgroups", " ".join(KGROUPS), 1)
        size = ("-x", str(run.columns), "-y", str(run.lines))
        # The terminal is there after the command has ended, until it is stopped.
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, f"env {settings} {command}; echo; sleep {LIMIT:.0f}")

    def screen(self, *options: str) -> str:
        """Return what the terminal shows; with ``-e``, with its colors."""
        return self._tmux("capture-pane", "-p", *options)

    def is_complete(self, until: str) -> bool:
        """Return whether the live screen shows a text; without one, whether the command has ended."""
        if until:
            return until in self.screen()
        return self._tmux("display-message", "-p", "#{pane_current_command}").strip() == "sleep"

    def close(self) -> None:
        """End the command and the terminal."""
        self._tmux("kill-server")

    def _tmux(self, *words: str) -> str:
        return subprocess.run(("tmux", "-L", self._socket, *words), check=True, capture_output=True, text=True).stdout


def screen_of(run: Run, bootstrap: str) -> str:
    """Return what a terminal shows at the end of a run, with its colors."""
    tmux = Tmux(run, bootstrap)
    try:
        until = time.monotonic() + LIMIT
        while not tmux.is_complete(run.until):
            if time.monotonic() > until:
                raise SystemExit(f"{run.command} is not complete after {LIMIT:.0f} s:\n{tmux.screen()}")
            time.sleep(0.1)
        return tmux.screen("-e").rstrip()
    finally:
        tmux.close()


def svg(run: Run, screen: str, theme: TerminalTheme) -> str:
    """Return a picture of a terminal that uses fonts of the reader's machine."""
    console = Console(
        record=True,
        width=run.columns,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
    )
    console.print(f"$ {run.command}", style="bold")
    console.print(Text.from_ansi(screen), no_wrap=True, crop=True)
    text = console.export_svg(title="", theme=theme)
    # Fonts would be loaded from the network; lines do not overlap, so they need no clip.
    small = re.sub(r"@font-face \{.*?\}\n", "", text, flags=re.DOTALL)
    small = re.sub(r'<clipPath id="[\w-]+-line-\d+">.*?</clipPath>\s*', "", small, flags=re.DOTALL)
    small = re.sub(r' clip-path="url\(#[\w-]+-line-\d+\)"', "", small)
    return small.replace("Fira Code, monospace", "ui-monospace, monospace")


@contextmanager
def sandbox() -> Iterator[str]:
    """Start brokers with known groups; yield their addresses."""
    subprocess.run((*KGROUPS, "sandbox", "up", "--brokers", "3", "--name", SANDBOX), check=True)
    try:
        subprocess.run((*KGROUPS, "sandbox", "seed", "--name", SANDBOX), check=True)
        lines = subprocess.run(
            (*KGROUPS, "sandbox", "env", "--name", SANDBOX), check=True, capture_output=True, text=True
        ).stdout
        found = re.search(r"KGROUPS_BOOTSTRAP_SERVER=(\S+)", lines)
        assert found, lines
        yield found[1].strip("'\"")
    finally:
        subprocess.run((*KGROUPS, "sandbox", "down", "--name", SANDBOX), check=True)


def report(bootstrap: str, browser: str) -> None:
    """Collect the history of the brokers, and picture the report of it."""
    with TemporaryDirectory() as folder:
        store, page = f"{folder}/history", Path(folder) / "report.html"
        subprocess.run((*KGROUPS, "history", "collect", "--store", store, "-b", bootstrap), check=True)
        subprocess.run((*KGROUPS, "history", "report", "--store", store, "--file", page), check=True)
        for scheme, flags in {"light": (), "dark": (DARK,)}.items():
            picture = f"--screenshot={PICTURES / f'report-{scheme}.png'}"
            common = ("--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,1000", picture)
            subprocess.run((browser, *common, *flags, page.as_uri()), check=True, capture_output=True)


def readme_pictures() -> None:
    """Make the pictures of README while a group falls behind, because one of its members is away."""
    README_PICTURES.mkdir(exist_ok=True)
    with sandbox() as bootstrap, traffic(bootstrap) as away:
        time.sleep(15)  # until the group commits
        away.set()
        for name, run in README_RUNS.items():
            save(README_PICTURES, name, run, bootstrap.partition(",")[0])  # commands of other tools fit the width


def screen_texts() -> None:
    """Write the screens that are used most, without colors, at each width."""
    SCREEN_TEXTS.mkdir(parents=True, exist_ok=True)
    with sandbox() as bootstrap, traffic(bootstrap):
        for (name, run), (columns, lines) in itertools.product(SCREENS.items(), WIDTHS.items()):
            sized = run._replace(columns=columns, lines=lines if run.until else 200)
            text = re.sub(r"\x1b\[[0-9;]*m", "", screen_of(sized, bootstrap))
            (SCREEN_TEXTS / f"{name}-{columns}.txt").write_text(f"$ {run.command}\n{text}\n", encoding="utf-8")


def save(folder: Path, name: str, run: Run, bootstrap: str) -> None:
    """Make a picture of a run, for light and for dark screens."""
    screen = screen_of(run, bootstrap)
    for scheme, theme in THEMES.items():
        (folder / f"{name}-{scheme}.svg").write_text(svg(run, screen, theme), encoding="utf-8")
    print(f"{name}: {run.command}")


def main() -> None:
    """Make all pictures, or with ``--readme`` those of README, or with ``--screens`` texts."""
    if sys.argv[1:]:
        {"--readme": readme_pictures, "--screens": screen_texts}[sys.argv[1]]()
        return
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not shutil.which("tmux"):
        raise SystemExit("the pictures need tmux")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sandbox() as bootstrap:
        for name, run in RUNS.items():
            save(PICTURES, name, run, bootstrap)
        for name, runs in CASTS.items():
            screens = [screen_of(run, bootstrap) for run in runs]
            for scheme, theme in THEMES.items():
                shown = [svg(run, screen, theme) for run, screen in zip(runs, screens, strict=True)]
                (PICTURES / f"{name}-{scheme}.svg").write_text(cast(shown), encoding="utf-8")
            print(f"{name}: {len(runs)} commands")
        if browser:
            report(bootstrap, browser)
        else:
            print("no picture of the report: it needs Chromium", file=sys.stderr)
        reason = prepare(browser)
        if browser and not reason:
            dashboards(bootstrap, browser)
        else:
            print(f"no pictures of the dashboards: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
