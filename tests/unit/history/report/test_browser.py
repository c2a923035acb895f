"""The page in a real browser: light, dark, and narrow, without console messages.

Needs Chromium. Without it these tests skip; with --require-programs they fail.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from kgroups.history.report.page import page
from kgroups.history.report.words import anchor
from tests.fakes.report import HOSTILE, NAMES, busy_day, nothing

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--enable-logging=stderr", "--virtual-time-budget=20000",
)  # fmt: skip
WITHOUT_LAG = NAMES[-1]
DARK = "--blink-settings=preferredColorScheme=0"


@pytest.fixture(scope="module")
def chromium(require_program: Callable[..., str]) -> str:
    return require_program(*BROWSERS)


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
  const lines = [...document.querySelectorAll("[data-chart=lag] .plot .line")];
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


def rgb(color: str) -> str:
    return "rgb({}, {}, {})".format(*(int(color[at : at + 2], 16) for at in (1, 3, 5)))


@pytest.mark.parametrize(
    ("flags", "card", "line"),
    [((), "#ffffff", "#2a78d6"), ((DARK,), "#1f1f1e", "#3987e5")],
    ids=["light", "dark"],
)
def test_charts_follow_the_theme_and_buttons_do_what_their_labels_say(
    chromium: str, tmp_path: Path, busy_page: str, flags: tuple[str, ...], card: str, line: str
) -> None:
    script = (
        f"const facts = (() => {{ {FACTS} }})(); const acts = (() => {{ {ACTS} }})(); return {{ ...facts, ...acts }};"
    )
    seen = Seen(chromium, tmp_path, asking(busy_page, script), "--window-size=1280,900", *flags)
    assert seen.console == []
    facts = seen.answer()
    assert facts["charts"] == [True] * 4 and facts["lines"] == 13
    assert (facts["card"], facts["color"]) == (rgb(card), rgb(line))
    assert (facts["images"], facts["links"], facts["fetched"]) == (0, 0, [])
    assert facts["title"].startswith("Consumer groups")
    assert "</script><img src=x one" in facts["all"]  # as text
    assert HOSTILE.startswith("</script><img src=x onerror=")
    # Groups without lag come last, in either sort order.
    assert (facts["down"], facts["up"]) == (["billing", WITHOUT_LAG], ["audit", WITHOUT_LAG])
    assert facts["sorted"] == "ascending"
    themes = [["Dark", rgb("#ffffff")], ["Light", rgb("#1f1f1e")]]
    assert facts["themes"] == (themes[::-1] + themes[1:] if flags else [*themes, themes[0]])


FRAMED = """
  const wait = () => new Promise((done) => setTimeout(done, 50));
  const framed = async (text, sandbox) => {
    const frame = document.createElement("iframe");
    frame.width = 400; frame.height = 900;
    if (sandbox) frame.sandbox = sandbox;
    frame.srcdoc = text;
    document.body.replaceChildren(frame);
    await new Promise((done) => frame.addEventListener("load", done));
    return frame;
  };
  const frame = await framed(BUSY_PAGE);
  const inner = frame.contentDocument;
  const pages = [];
  for (const page of inner.querySelectorAll(".page")) {
    frame.contentWindow.location.hash = page.id;
    await wait();
    pages.push([page.clientHeight > 300, inner.documentElement.scrollWidth]);
  }
  frame.contentWindow.location.hash = "groups";
  await wait();
  const wide = inner.documentElement.scrollWidth;
  const plots = [...inner.querySelectorAll("main .plot")].map((plot) => plot.getBoundingClientRect().width);

  const still = await framed(BUSY_PAGE, "allow-same-origin");
  const plain = still.contentDocument;
  const all = [...plain.querySelectorAll("main, .page")];
  const shown = () => all.filter((each) => each.offsetHeight).map((each) => each.id);
  const steps = [shown()];
  for (const [place, at] of [["#groups-table", 1], [".page:target", "next"], [".page:target", "all groups"]]) {
    const links = [...plain.querySelectorAll(`${place} a`)];
    // Not click(): in srcdoc, addresses are relative to the outer page.
    still.contentWindow.location.hash = links.find((link, number) => at === number || at === link.textContent).hash;
    await wait();
    steps.push(shown());
  }

  const empty = (await framed(EMPTY_PAGE)).contentDocument.querySelector("h1").textContent;
  return { pages, wide, plots, steps, empty };
"""


def test_page_fits_400_pixels_and_its_links_work_without_scripts(chromium: str, tmp_path: Path, busy_page: str) -> None:
    """In frames: a window has a smallest width, and a sandboxed frame runs no scripts."""

    def quoted(text: str) -> str:
        return json.dumps(text).replace("</", "<\\/").replace("<!--", "<\\!--")

    script = FRAMED.replace("BUSY_PAGE", quoted(busy_page)).replace("EMPTY_PAGE", quoted(page(nothing())))
    outer = '<!DOCTYPE html><title>frame</title><body><script>document.title = "frame"</script></body>'
    seen = Seen(chromium, tmp_path, asking(outer, script), "--window-size=900,900")
    # Only what a frame without scripts refuses.
    assert [line for line in seen.console if "allow-scripts" not in line] == []
    found = seen.answer()
    assert isinstance(found, dict), found
    assert found["wide"] <= 400
    assert len(found["pages"]) == 4 and all(seen and width <= 400 for seen, width in found["pages"])
    assert len(found["plots"]) == 4 and all(300 < width < 400 for width in found["plots"])
    assert found["steps"] == [[""], [anchor(NAMES[2])], [anchor(HOSTILE)], [""]]
    assert found["empty"] == "No history found"
