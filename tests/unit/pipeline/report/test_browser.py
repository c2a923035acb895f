"""The page in a real browser: light, dark, and narrow, without console messages.

Needs a Chromium. Without one these tests skip; with KGROUPS_REQUIRE_BROWSER=1 they fail.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from kgroups.pipeline.report.page import page
from tests.fakes.report import HOSTILE, NAMES, busy_day, nothing

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Read before the tests' own environment is cleared of KGROUPS_*.
REQUIRED = os.environ.get("KGROUPS_REQUIRE_BROWSER") == "1"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--enable-logging=stderr", "--virtual-time-budget=20000",
)  # fmt: skip
WITHOUT_LAG = NAMES[-1]
DARK = "--blink-settings=preferredColorScheme=0"


@pytest.fixture(scope="module")
def chromium() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        reason = f"no browser: none of {', '.join(BROWSERS)} is installed"
        if REQUIRED:
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return found


class Seen:
    """What a browser made of a page, and what it had to say: lines of its console, and of refused requests."""

    def __init__(self, chromium: str, folder: Path, text: str, *flags: str) -> None:
        file = folder / "page.html"
        file.write_text(text, encoding="utf-8")
        command = [chromium, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, "--dump-dom", file.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        self.dom = done.stdout
        self.console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    def answer(self) -> Any:
        """What the script that was added with :func:`asking` found out."""
        found = re.search(r'<pre id="answer">(.*?)</pre>', self.dom, re.DOTALL)
        assert found, self.console
        return json.loads(unescape(found[1]))


def asking(text: str, script: str) -> str:
    """The page with one more script, which its policy allows, whose result is written into the page."""
    whole = f"""
addEventListener("load", async () => {{
  const answer = document.createElement("pre");
  answer.id = "answer";
  try {{ answer.textContent = JSON.stringify(await (async () => {{ {script} }})()); }}
  catch (error) {{ answer.textContent = JSON.stringify(String(error)); }}
  document.body.append(answer);
}});
"""
    digest = base64.b64encode(hashlib.sha256(whole.encode()).digest()).decode()
    allowed = text.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    return allowed.replace("</body>", f"<script>{whole}</script></body>")


@pytest.fixture(scope="module")
def busy_page() -> str:
    return page(busy_day())


FACTS = """
  const style = (element) => getComputedStyle(element);
  const lines = [...document.querySelectorAll("[data-chart=lag] .line")];
  return {
    title: document.title,
    charts: [...document.querySelectorAll("main .plot")].map((plot) => plot.getBoundingClientRect().width > 900),
    lines: lines.length,
    color: style(lines.at(-1)).stroke,
    background: style(document.body).backgroundColor,
    card: style(document.querySelector("figure")).backgroundColor,
    images: document.images.length,
    links: document.querySelectorAll(".plot a").length,
    all: document.querySelector("[data-chart=rebalances] .plot").textContent,
    fetched: performance.getEntriesByType("resource").map(({ name }) => name).filter((it) => !/^(data|blob):/.test(it)),
  };
"""


def rgb(color: str) -> str:
    return "rgb({}, {}, {})".format(*(int(color[at : at + 2], 16) for at in (1, 3, 5)))


@pytest.mark.parametrize(
    ("flags", "card", "line"),
    [((), "#ffffff", "#2a78d6"), ((DARK,), "#1f1f1e", "#3987e5")],
    ids=["light", "dark"],
)
def test_charts_are_drawn_and_follow_the_theme(
    chromium: str, tmp_path: Path, busy_page: str, flags: tuple[str, ...], card: str, line: str
) -> None:
    seen = Seen(chromium, tmp_path, asking(busy_page, FACTS), "--window-size=1280,900", *flags)
    assert seen.console == []
    facts = seen.answer()
    assert facts["charts"] == [True] * 4 and facts["lines"] == 13
    assert (facts["card"], facts["color"]) == (rgb(card), rgb(line))
    assert (facts["images"], facts["links"], facts["fetched"]) == (0, 0, [])
    assert facts["title"].startswith("Consumer groups")
    assert "</script><img src=x onerror=" in facts["all"]  # as text
    assert HOSTILE.startswith("</script><img src=x onerror=")


ACTS = """
  const firsts = (table) => [...document.querySelectorAll(`#${table} tbody tr`)].map((row) => row.cells[0].textContent);
  const members = [...document.querySelectorAll("#groups-table th button")].find((each) => each.textContent === "Lag");
  members.click();
  const down = firsts("groups-table");
  members.click();
  const up = firsts("groups-table");

  const toggle = document.getElementById("theme");
  const themed = () => [toggle.textContent, getComputedStyle(document.querySelector("figure")).backgroundColor];
  const themes = [themed()];
  toggle.click();
  themes.push(themed());
  toggle.click();
  themes.push(themed());
  return {
    down: [down[0], down.at(-1)], up: [up[0], up.at(-1)], themes,
    sorted: members.parentElement.getAttribute("aria-sort"),
  };
"""


def test_buttons_do_what_their_labels_say(chromium: str, tmp_path: Path, busy_page: str) -> None:
    seen = Seen(chromium, tmp_path, asking(busy_page, ACTS), "--window-size=1280,900")
    assert seen.console == []
    found = seen.answer()
    # What has no lag stays behind, whichever way it is sorted.
    assert found["down"] == ["billing", WITHOUT_LAG]
    assert found["up"] == ["audit", WITHOUT_LAG]
    assert found["sorted"] == "ascending"
    light, dark = rgb("#ffffff"), rgb("#1f1f1e")
    assert found["themes"] == [["Dark", light], ["Light", dark], ["Dark", light]]


NARROW = """
  const frame = document.createElement("iframe");
  frame.width = 400; frame.height = 900;
  frame.srcdoc = PAGE;
  document.body.replaceChildren(frame);
  await new Promise((done) => frame.addEventListener("load", done));
  const inner = frame.contentDocument;
  const pages = [];
  for (const page of inner.querySelectorAll(".page")) {
    frame.contentWindow.location.hash = page.id;
    await new Promise((done) => setTimeout(done, 50));
    pages.push([page.clientHeight > 300, inner.documentElement.scrollWidth]);
  }
  frame.contentWindow.location.hash = "groups";
  await new Promise((done) => setTimeout(done, 50));
  return {
    pages,
    wide: inner.documentElement.scrollWidth,
    plots: [...inner.querySelectorAll("main .plot")].map((plot) => plot.getBoundingClientRect().width),
  };
"""


def test_page_fits_400_pixels(chromium: str, tmp_path: Path, busy_page: str) -> None:
    """In a frame: a window has a smallest width."""
    quoted = json.dumps(busy_page).replace("</", "<\\/").replace("<!--", "<\\!--")
    script = NARROW.replace("PAGE", quoted)
    outer = '<!DOCTYPE html><title>frame</title><body><script>document.title = "frame"</script></body>'
    seen = Seen(chromium, tmp_path, asking(outer, script), "--window-size=900,900")
    found = seen.answer()
    assert found["wide"] <= 400
    assert len(found["pages"]) == 4 and all(seen and width <= 400 for seen, width in found["pages"])
    assert len(found["plots"]) == 4 and all(300 < width < 400 for width in found["plots"])


PAGES = """
  const all = [...document.querySelectorAll("main, .page")];
  const shown = () => all.filter((each) => each.offsetHeight).map((each) => each.id);
  const steps = [shown()];
  for (const [place, to] of [["#groups-table", "group-2"], [".page:target", "group-3"], [".page:target", "groups"]]) {
    document.querySelector(`${place} a[href="#${to}"]`).click();
    await new Promise((done) => setTimeout(done, 50));
    steps.push(shown());
  }
  return steps;
"""


def test_link_shows_only_the_page_of_its_group(chromium: str, tmp_path: Path, busy_page: str) -> None:
    """Without the script of the page: its policy allows only that of the test."""
    start = busy_page.rindex("<script>")
    plain = busy_page[:start] + busy_page[busy_page.index("</script>", start) + len("</script>") :]
    seen = Seen(chromium, tmp_path, asking(plain, PAGES), "--window-size=1280,900")
    assert seen.console == []
    assert seen.answer() == [[""], ["group-2"], ["group-3"], [""]]


def test_empty_page_has_an_empty_console(chromium: str, tmp_path: Path) -> None:
    seen = Seen(chromium, tmp_path, page(nothing()))
    assert seen.console == []
    assert "No history found" in seen.dom
