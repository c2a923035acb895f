"""The documentation as a site: built strictly, complete, readable from disk, in a browser, and with a screen reader.

Needs what ``make docs`` installs, and Chromium. Without them these tests skip; with --require-programs they fail.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest

from tests.documentation.pages import ROOT
from tests.site.browser import Tab, opened

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TOOLS = ROOT / "build" / "docs"
WIDTHS = (390, 1280)
LIGHT, DARK = ("light", WIDTHS[1]), ("dark", WIDTHS[0])
WHOLE = "html"
CHECKED = (
    ("index.html", DARK, WHOLE),
    ("lag.html", LIGHT, WHOLE),
    ("lag.html", DARK, WHOLE),
    ("errors.html", LIGHT, "article"),
    ("python-api.html", DARK, ".doc-function"),
    ("commands/check.html", LIGHT, "article"),
    ("commands/check.html", DARK, "article"),
    ("project/benchmark-results.html", DARK, "article"),
)
"""One page of each kind, as it is seen, and the part of it that other pages do not have."""
SCHEMES = {"light": "default", "dark": "slate"}
"""What the theme calls them."""
README_PICTURES = [f"{name}-{scheme}" for name in ("watch", "lagging") for scheme in ("light", "dark")]
NEVER_LOADED = ("http:", "https:", "//")


class Html(HTMLParser):
    """The links, the loaded files, and the anchors of a page, and its images without a description."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.unnamed: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if name := found.get("id") or (tag == "a" and found.get("name")):
            self.anchors.add(name)
        if tag == "a" and (target := found.get("href")):
            self.links.append(target)
        elif tag in ("img", "script", "iframe") and (source := found.get("src")):
            self.loads.append(source)
        elif tag == "link" and found.get("rel") != "canonical" and (target := found.get("href")):
            self.loads.append(target)
        if tag == "img" and not found.get("alt"):
            self.unnamed.append(str(found.get("src")))


@pytest.fixture(scope="module")
def site(require_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site; warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [TOOLS / "bin" / "mkdocs", "build", "--config-file", ROOT / "docs/site/mkdocs.yml", "--site-dir", folder]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def require_installed(request: pytest.FixtureRequest) -> None:
    if not (TOOLS / ".installed").exists():
        missing = "the tools of the site are not installed: run make docs"
        if request.config.getoption("--require-programs"):
            pytest.fail(missing)
        pytest.skip(missing)


@pytest.fixture(scope="module")
def pages(site: Path) -> Mapping[str, Html]:
    return {path.relative_to(site).as_posix(): Html(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


@pytest.fixture(scope="module")
def entries(site: Path) -> Sequence[Mapping[str, Any]]:
    """What the search of the site knows: one entry for each part of each page."""
    text = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text.removeprefix("var __index = "))["docs"]
    return found


@pytest.fixture(scope="module")
def tab(require_program: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with opened(require_program(*BROWSERS), tmp_path_factory.mktemp("chromium") / "profile") as tab:
        yield tab


def resolved(page: str, target: str) -> str | None:
    """The file in the site that a link of a page leads to; ``None`` if it leads elsewhere."""
    path = unquote(urldefrag(target)[0])
    if path.startswith(("http:", "https:", "mailto:", "data:")):
        return None
    return (Path("/") / Path(page).parent / path).resolve().relative_to("/").as_posix() if path else page


SMALL = """
INHERIT: {folder}/mkdocs.yml
docs_dir: pages
site_dir: site
hooks: []
plugins: []
theme: {{custom_dir: {folder}/theme}}
nav: [index.md]
"""


def test_wrong_anchor_and_page_outside_of_the_navigation_fail_the_build(
    require_installed: None, tmp_path: Path
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "mkdocs.yml").write_text(SMALL.format(folder=ROOT / "docs/site"), encoding="utf-8")
    for name in ("index.md", "other.md"):
        (tmp_path / "pages" / name).write_text("# Page\n\n[part](index.md#nowhere)\n", encoding="utf-8")
    built = subprocess.run([TOOLS / "bin/mkdocs", "build"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode != 0
    assert 'not included in the "nav" configuration:\n  - other.md' in built.stderr
    assert "does not contain an anchor '#nowhere'" in built.stderr or "no such anchor" in built.stderr


def test_every_link_leads_to_a_file_and_an_anchor(site: Path, pages: Mapping[str, Html]) -> None:
    broken = []
    for page, html in pages.items():
        for target in html.links:
            place, anchor = resolved(page, target), unquote(urldefrag(target)[1])
            if place is None:
                continue
            known = pages[place].anchors if place in pages else set()
            if not (site / place).is_file() or (anchor and anchor not in {*known, "__skip"}):
                broken.append(f"{page}: {target}")
    assert broken == []


def test_every_page_can_be_reached_from_the_first(pages: Mapping[str, Html]) -> None:
    reached, todo = {"index.html"}, ["index.html"]
    while todo:
        page = todo.pop()
        new = {place for target in pages[page].links if (place := resolved(page, target)) in pages} - reached
        reached |= new
        todo += new
    assert reached == set(pages)
    assert len(pages) > 80


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: Mapping[str, Html]) -> None:
    for page, html in pages.items():
        assert [source for source in html.loads if source.startswith(NEVER_LOADED)] == [], page
        assert [source for source in html.loads if not (site / str(resolved(page, source))).is_file()] == [], page
        assert html.unnamed == [], page


def test_llms_txt_describes_every_page_in_a_sentence(site: Path, pages: Mapping[str, Html]) -> None:
    lines = [line for line in (site / "llms.txt").read_text(encoding="utf-8").splitlines() if line.startswith("- [")]
    described = {line.partition("](")[2].partition(")")[0]: line.partition("): ")[2] for line in lines}
    assert set(described) == set(pages)
    assert {page: text for page, text in described.items() if not 10 < len(text) < 500 or text[-1] not in ".?"} == {}
    assert "# kgroups lag\n" in (site / "llms-full.txt").read_text(encoding="utf-8")


def test_escapes_of_markdown_are_not_shown(site: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    texts = {str(path): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    texts |= {entry["location"]: entry["text"] for entry in entries}
    shown = {place: re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL) for place, text in texts.items()}
    assert [place for place, text in shown.items() if re.search(r"\\(\||&[lg]t;)", text)] == []
    assert any("[wire|librdkafka]" in text for text in shown.values())


def test_search_prefers_tasks_to_the_reference(entries: Sequence[Mapping[str, Any]]) -> None:
    ranks = {entry["location"]: entry.get("boost", 1) for entry in entries}
    assert {ranks[page] for page in ("lag.html", "quick-start.html", "tutorials/ci-author.html")} == {2}
    assert {ranks[page] for page in ("errors.html", "commands/lag.html")} == {1}
    assert {ranks[page] for page in ("python-api.html", "data-dictionary.html", "project/changelog.html")} == {0.2}


def test_site_has_nothing_that_needs_its_address(site: Path) -> None:
    assert [path.name for path in site.iterdir() if path.name.startswith(("sitemap", "404"))] == []
    assert [path.name for path in site.rglob("*.html") if 'rel="canonical"' in path.read_text(encoding="utf-8")] == []


def test_tutorials_are_in_the_order_of_the_first_page(site: Path) -> None:
    first, navigation = (
        re.findall(r"\((tutorials/[\w-]+)", path.read_text(encoding="utf-8"))
        for path in (ROOT / "docs/README.md", site / "llms.txt")
    )
    assert first == navigation
    assert first


def test_pages_of_commands_that_connect_lead_to_the_permissions(site: Path) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (site / "commands").iterdir()}
    last = {name: text.partition('id="see-also"')[2].partition("</article>")[0] for name, text in texts.items()}
    leads = {name for name, text in last.items() if 'href="../permissions.html"' in text}
    assert leads == {name for name, text in texts.items() if 'id="options"' in text and 'id="connection"' in text}
    assert {"lag.html", "reset-offsets.html"} <= leads


NEEDED = """
(async () => {
  const needed = () => document.documentElement.scrollWidth;
  for (let tries = 0; tries < 200 && needed() > WIDTH; tries++) await new Promise((done) => setTimeout(done, 50));
  return needed();
})()
"""
"""The width that a page needs, once the navigation has moved to its place for a new width."""


def test_pages_fit_two_widths_and_the_console_stays_empty(site: Path, pages: Mapping[str, Html], tab: Tab) -> None:
    """Of the pages of commands, which have one form, only some."""
    some = [page for page in sorted(pages) if not page.startswith("commands/")]
    some += [page for page in sorted(pages) if page.startswith("commands/")][::10]
    too_wide = []
    for page in some:
        tab.width(WIDTHS[-1])
        tab.open((site / page).as_uri())
        for width in WIDTHS:
            tab.width(width)
            needed = tab.run(NEEDED.replace("WIDTH", str(width)))
            if needed > width:
                too_wide.append(f"{page}: {needed} > {width}")
    assert too_wide == []
    assert tab.problems == []


SEARCH = """
(async () => {
  const pause = () => new Promise((done) => setTimeout(done, 50));
  document.querySelector("[data-md-toggle=search]").click();
  const query = document.querySelector("[data-md-component=search-query]");
  query.focus();
  query.value = QUERY;
  query.dispatchEvent(new Event("keyup"));
  const found = () => [...document.querySelectorAll(".md-search-result__link")].map((link) => link.href);
  for (let tries = 0; tries < 600 && !found().length; tries++) await pause();
  return found();
})()
"""


@pytest.mark.parametrize(
    ("query", "page"), [("headroom", "lag.html"), ("--time", "lag.html"), ("lag --time acl", "permissions.html")]
)
def test_search_works_from_disk(site: Path, tab: Tab, query: str, page: str) -> None:
    tab.width(WIDTHS[-1])
    tab.open((site / "project" / "security.html").as_uri())
    found = tab.run(SEARCH.replace("QUERY", json.dumps(query)))
    assert any(link.startswith((site / page).as_uri()) for link in found), found
    assert tab.problems == []


EACH_WORD = """
(async () => {
  const pause = () => new Promise((done) => setTimeout(done, 20));
  document.querySelector("[data-md-toggle=search]").click();
  const query = document.querySelector("[data-md-component=search-query]");
  const shown = () => document.querySelector(".md-search-result__meta").innerText;
  query.focus();
  const ask = (text) => { query.value = text; query.dispatchEvent(new Event("keyup")); };
  const missing = [];
  for (const word of WORDS) {
    ask("");
    for (let tries = 0; tries < 1500 && /match|No /.test(shown()); tries++) await pause();
    ask(word);
    for (let tries = 0; tries < 1500 && !/match|No /.test(shown()); tries++) await pause();
    if (!/^\\d/.test(shown())) missing.push([word, shown()]);
  }
  return missing;
})()
"""


def test_search_finds_each_word_in_names_of_pages(site: Path, tab: Tab, entries: Sequence[Mapping[str, Any]]) -> None:
    """The dictionary of the search is whole, whatever the pages say."""
    names = {re.sub(r"\.html.*", "", entry["location"]) for entry in entries}
    texts = set(re.findall("[a-z]+", " ".join(f"{entry['title']} {entry['text']}" for entry in entries).lower()))
    words = sorted(texts.intersection(re.findall("[a-z]{3,}", " ".join(names))))
    words = [word for word in words if word not in ("and", "with", "how")]  # which the search leaves out
    assert len(words) > 60
    tab.open((site / "project" / "security.html").as_uri())
    assert tab.run(EACH_WORD.replace("WORDS", json.dumps(words))) == []
    assert tab.problems == []


COPIED = """
(() => {
  const code = document.querySelector("code:has(.gp)");
  code.setAttribute("data-md-copying", "");
  return code.innerText.trim();
})()
"""
"""As the theme does."""


def test_commands_are_copied_without_prompt_and_output(site: Path, tab: Tab) -> None:
    tab.open((site / "lag.html").as_uri())
    assert tab.run(COPIED) == "kgroups lag --top 6"


BELOW_THE_BUTTON = """
[...document.querySelectorAll("pre:has(> nav) > code")].filter((code) =>
  code.getBoundingClientRect().right > code.parentNode.querySelector("nav").getBoundingClientRect().left).length
"""
BROKEN_OPTIONS = """
[...document.querySelectorAll("td .option")].filter((each) => each.getClientRects().length !== 1).length
"""


def test_code_can_be_read_on_a_narrow_screen(site: Path, tab: Tab) -> None:
    tab.width(WIDTHS[0])
    tab.open((site / "commands" / "lag.html").as_uri())
    assert tab.run("document.querySelectorAll('td .option').length") > 20
    assert tab.run(BROKEN_OPTIONS) == 0
    assert tab.run("document.querySelectorAll('pre > nav').length") > 2
    assert tab.run(BELOW_THE_BUTTON) == 0


CUT = """
[...document.querySelectorAll("pre > code")].filter((code) => code.scrollWidth > code.clientWidth).map((code) =>
  code.innerText.slice(0, 60))
"""


def test_no_code_is_cut_on_a_wide_screen(site: Path, pages: Mapping[str, Html], tab: Tab) -> None:
    tab.width(WIDTHS[-1])
    cut = {}
    for page in sorted(page for page in pages if "/" not in page):
        tab.open((site / page).as_uri())
        if found := tab.run(CUT):
            cut[page] = found
    assert cut == {}


def test_first_page_shows_kgroups_at_work(site: Path, pages: Mapping[str, Html]) -> None:
    assert "$ pip install ." in re.sub(r"<[^>]*>", "", (site / "index.html").read_text(encoding="utf-8"))
    for page in ("index.html", "overview.html"):
        shown = [source for source in pages[page].loads if "pictures/readme-" in source]
        assert shown == [f"pictures/readme-{name}.svg#only-{name.rpartition('-')[2]}" for name in README_PICTURES]


def test_commands_are_grouped_as_on_their_page(site: Path) -> None:
    page = (site / "commands/index.html").read_text(encoding="utf-8")
    article = page[page.index("<article") :]
    headings = re.findall(r'<h2 id="([\w-]+)"', article)
    assert headings == [
        *("see-and-explain", "change", "save-and-compare", "move-to-another-cluster", "monitor", "set-up", "drop-ins")
    ]
    own = re.findall(r'<td><a href="([\w-]+\.html)"', article)
    links = [link for link in re.findall(r'href="([\w-]+\.html)" class="md-nav__link"', page) if link in own]
    assert sorted(links, key=own.index) == links and len(set(own)) == len(own) > 50


AXE = """
(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  await frame(); await frame(); await frame();
  const { violations } = await axe.run(document.querySelector("PART"), { preload: false, resultTypes: ["violations"] });
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map(({ target }) => target.join(" "))]);
})()
"""
STILL = """
const style = document.createElement("style");
style.textContent = "* { transition: none !important }";
document.head.append(style);
"""
"""Colors in transition have no contrast that could be measured."""


@pytest.mark.parametrize(("page", "look", "part"), CHECKED, ids=str)
def test_page_has_no_serious_accessibility_problem(
    site: Path, tab: Tab, page: str, look: tuple[str, int], part: str
) -> None:
    assert problems(tab, site / page, *look, part) == []


@pytest.mark.soak
@pytest.mark.parametrize("look", [LIGHT, DARK], ids=str)
def test_no_page_has_a_serious_accessibility_problem(
    site: Path, pages: Mapping[str, Html], tab: Tab, look: tuple[str, int]
) -> None:
    found = {page: problems(tab, site / page, *look) for page in sorted(pages)}
    assert {page: each for page, each in found.items() if each} == {}


def problems(tab: Tab, page: Path, scheme: str, width: int, part: str = WHOLE) -> list[list[str]]:
    """What axe-core finds in a part of a page: the rule, and some of the elements that violate it."""
    (axe,) = TOOLS.rglob("axe.min.js")
    tab.colors(scheme)
    tab.width(width)
    tab.open(page.as_uri())
    assert tab.run("document.body.dataset.mdColorScheme") in (SCHEMES[scheme], None)
    tab.run(STILL)
    tab.run(f"{axe.read_text(encoding='utf-8')}; 0")
    found: list[list[str]] = tab.run(AXE.replace("PART", part))
    return found


def test_axe_finds_a_planted_problem(site: Path, tab: Tab, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<!DOCTYPE html><html lang="en"><title>x</title><main><img src="x.png"></main>', encoding="utf-8")
    assert [rule for rule, *_ in problems(tab, page, "light", WIDTHS[0])] == ["image-alt"]
    tab.problems.clear()
