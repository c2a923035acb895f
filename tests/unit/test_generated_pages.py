"""The pages that ``completions/generate.py`` makes from the commands and tables: complete, readable, and not in git."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.frame.command import EXIT_CODES
from kgroups.history.contracts import TABLES
from tests.documentation.pages import DISCOURAGED, LANGUAGES, PAGES, ROOT, anchors, blocks_in, page_text, prose_in

Texts = Mapping[str, str]
Command = Mapping[str, Any]
TOOLS = (
    *("kafka-consumer-groups", "kafka-groups", "kafka-share-groups"),
    *("kafka-streams-application-reset", "kafka-streams-groups"),
)


def run(*command: str | Path) -> str:
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Texts:
    """The text of each generated file, by its path in the folder."""
    folder = tmp_path_factory.mktemp("generated")
    return generated(folder)


def generated(folder: Path) -> Texts:
    """Generate in a process of its own, because click keeps the options for help of the first context of a command."""
    run(sys.executable, "completions/generate.py", folder)
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.*")}


@pytest.fixture(scope="module")
def commands() -> Mapping[str, Command]:
    """Each command as ``kgroups --help-json`` describes it, by the name of its page, such as ``history-lag``."""
    root = json.loads(run(sys.executable, "-m", "kgroups", "--help-json"))["command"]
    return {each["name"].removeprefix("kgroups ").replace(" ", "-"): each for each in _leaves(root)}


def _leaves(command: Command) -> Iterator[Command]:
    yield from (leaf for inner in command["commands"] for leaf in _leaves(inner))
    if not command["commands"]:
        yield command


@pytest.fixture(scope="module")
def man(pages: Texts) -> Texts:
    """The text of each man page as a reader sees it, in one line, without line breaks and without escapes of roff."""
    texts = {name: text for name, text in pages.items() if name.startswith("man1/")}
    return {name.removeprefix("man1/").removesuffix(".1"): plain(_without_roff(text)) for name, text in texts.items()}


def _without_roff(text: str) -> str:
    lines = [re.sub(r"^\.\w+ ?", "", line) for line in text.splitlines()]
    return " ".join(lines).replace(r"\&", "").replace(r"\-", "-").replace(r"\e", "\\")


@pytest.fixture(scope="module")
def site(pages: Texts) -> Texts:
    """The text of each page of a command on the site, in one line and without Markdown."""
    texts = {name: text for name, text in pages.items() if name.startswith("commands/")}
    return {Path(name).stem: plain(text.replace("&lt;", "<")) for name, text in texts.items()}


def plain(text: str) -> str:
    return " ".join(re.sub(r"[`\\]", "", text).split())


def test_every_command_and_tool_has_a_man_page_and_a_page(pages: Texts, commands: Mapping[str, Command]) -> None:
    expected = {*commands, *TOOLS}
    assert len(commands) > 50
    assert {name for name in pages if name.startswith("commands/")} == {f"commands/{name}.md" for name in expected}
    own = {f"man1/kgroups-{name}.1" for name in commands}
    assert {name for name in pages if name.startswith("man1/")} == {
        *own, "man1/kgroups.1", *(f"man1/{tool}.1" for tool in TOOLS)
    }  # fmt: skip
    assert {name for name in pages if name.startswith("parts/")} == {"parts/commands.md", "parts/data-dictionary.md"}


def test_pages_have_help_and_usage(commands: Mapping[str, Command], man: Texts, site: Texts) -> None:
    for name, command in commands.items():
        for text in (man[f"kgroups-{name}"], site[name]):
            assert [part for part in command["help"].split("\n\n") if plain(part) not in text] == [], name
            assert plain(command["usage"]) in text, name


def test_pages_have_every_option_with_its_description(commands: Mapping[str, Command], man: Texts, site: Texts) -> None:
    """A man page refers to the page of kgroups for the options of the connection, which are those of list."""
    connection = {option["names"][-1]: option["help"] for option in commands["list"]["options"]}
    for name, command in commands.items():
        for option in command["options"]:
            names = [*option["names"], *option["off_names"]]
            if "--help" in names or option["deprecated"]:
                continue
            shared = option["section"] == "Connection"
            texts = {site[name]: option["help"]}
            texts[man["kgroups" if shared else f"kgroups-{name}"]] = connection[names[-1]] if shared else option["help"]
            for text, description in texts.items():
                assert [each for each in names if not re.search(rf"(?<![\w-]){each}(?![\w-])", text)] == [], name
                assert plain(description).rstrip(".") in text, (name, names)


def test_pages_have_every_example(commands: Mapping[str, Command], man: Texts, site: Texts) -> None:
    for name, command in commands.items():
        assert command["examples"], name
        for example in command["examples"]:
            for text in (man[f"kgroups-{name}"], site[name]):
                assert f"{plain(example['text'])}: " in text, name
                assert plain(example["command"]) in text, name


def test_pages_have_every_exit_code(commands: Mapping[str, Command], man: Texts, pages: Texts) -> None:
    """A man page of a command refers to the page of kgroups."""
    for code, meaning in EXIT_CODES:
        assert f"{code} {plain(meaning)}" in man["kgroups"]
    for name, command in commands.items():
        rows = pages[f"commands/{name}.md"].partition("\n## Exit codes\n")[2].partition("\n## ")[0]
        shown = dict(re.findall(r"^\| (\d[\d, ]*) \| (.+) \|$", rows, re.MULTILINE))
        assert {code: plain(text) for code, text in shown.items()} == {
            each["code"]: plain(each["meaning"]) for each in command["exit_codes"]
        }, name


def test_pages_of_tools_have_their_usage(man: Texts, site: Texts) -> None:
    for tool in TOOLS:
        usage = plain((ROOT / f"kgroups/dropins/{tool}.usage").read_text("utf-8"))
        assert usage in man[tool] and usage in site[tool]


def test_man_pages_refer_to_each_other(pages: Texts) -> None:
    names = {Path(name).stem for name in pages if name.startswith("man1/")}
    for name in (name for name in pages if name.startswith("man1/")):
        referred = {each.replace("\\-", "-") for each in re.findall(r"^\.BR (\S+) \(1\)", pages[name], re.MULTILINE)}
        assert referred and referred <= names, name
        if name == "man1/kgroups.1":
            assert referred == names - {"kgroups"}


def test_man_pages_use_only_known_macros_and_each_text_is_one_paragraph(pages: Texts) -> None:
    for name in (name for name in pages if name.startswith("man1/")):
        macros = [line.partition(" ")[0] for line in pages[name].splitlines() if line.startswith((".", "'"))]
        assert set(macros) <= {".TH", ".SH", ".SS", ".TP", ".B", ".BR", ".PP", ".nf", ".fi"}, name
        assert [macro for macro in macros if macro in (".nf", ".fi")] == [".nf", ".fi"] * macros.count(".nf"), name
        assert macros[0] == ".TH" and macros.count(".TH") == 1, name
        assert "" not in pages[name].splitlines(), name


def test_man_pages_render_without_warnings(pages: Texts, tmp_path: Path, require_program: Callable[..., str]) -> None:
    """As the program ``man`` renders them."""
    files = []
    for name in sorted(name for name in pages if name.startswith("man1/")):
        files.append(tmp_path / Path(name).name)
        files[-1].write_text(pages[name], encoding="utf-8")
    command = [require_program("groff"), "-k", "-man", "-T", "utf8", "-ww", "-P", "-cbou", *files]
    shown = subprocess.run(command, capture_output=True, check=False)
    assert (shown.returncode, shown.stderr) == (0, b"")
    text = shown.stdout.decode()
    assert len(re.findall(r"^NAME$", text, re.MULTILINE)) == len(files)
    assert "--to-earliest" in text and "kgroups-undo-*.json" in text


def test_pages_have_languages_and_links_and_no_discouraged_words(pages: Texts) -> None:
    markdown = {f"docs/{name}": text for name, text in pages.items() if name.startswith("commands/")}
    for page, text in markdown.items():
        assert [block for block in blocks_in(page, text) if block.language not in LANGUAGES] == [], page
        assert [match[0] for match in DISCOURAGED.finditer(prose_in(text))] == [], page
        links = re.findall(r"\]\(([^)\s]+)\)", prose_in(text))
        assert links, page
        for path, _, anchor in (link.partition("#") for link in links):
            target = (ROOT / page).parent.joinpath(path).resolve().relative_to(ROOT).as_posix()
            assert target in markdown or target in PAGES, (page, path)
            assert not anchor or anchor in anchors(page_text(target)), (page, path)


def test_table_of_commands_links_to_each_page(pages: Texts) -> None:
    linked = re.findall(r"^\| \[`[\w -]+`\]\(([\w-]+\.md)\) \| .+\. \|$", pages["parts/commands.md"], re.MULTILINE)
    assert sorted(f"commands/{name}" for name in linked) == sorted(n for n in pages if n.startswith("commands/"))
    assert pages["parts/commands.md"].count("\n| [") == len(linked)


def test_data_dictionary_has_every_column_of_every_table(pages: Texts) -> None:
    sections = dict(
        re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", pages["parts/data-dictionary.md"], re.MULTILINE | re.DOTALL)
    )
    assert list(sections) == list(TABLES)
    for name, table in TABLES.items():
        assert plain(table.doc) in plain(sections[name])
        rows = re.findall(r"^\| `(\w+)` \| `([\w<>]+)` \| (yes|no) \| (.+) \|$", sections[name], re.MULTILINE)
        assert [(column, kind, nullable, plain(text)) for column, kind, nullable, text in rows] == [
            (each.name, each.type, "no" if each.required else "yes", plain(each.doc)) for each in table.columns
        ]


def test_data_dictionary_is_what_the_command_prints(pages: Texts) -> None:
    printed = run(sys.executable, "-m", "kgroups", "history", "schema", "--format", "markdown")
    title, first, rest = printed.split("\n\n", 2)
    assert title == "# Data dictionary of history" and first.startswith("Every table of ")
    assert rest == pages["parts/data-dictionary.md"]


ONLY_CLICK = """
import runpy, sys, sysconfig
from importlib.machinery import PathFinder

class Blocked:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top != "click" and PathFinder.find_spec(top, [sysconfig.get_path("purelib")]):
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)

sys.meta_path.insert(0, Blocked())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_generator_imports_no_package_but_click(pages: Texts, tmp_path: Path) -> None:
    """A build has no other; and without extras, the help of every command is shown."""
    run(sys.executable, "-c", ONLY_CLICK, "completions/generate.py", tmp_path)
    assert {each.relative_to(tmp_path).as_posix() for each in tmp_path.rglob("*.*")} == set(pages)


def test_run_again_deletes_what_an_earlier_version_generated(tmp_path: Path) -> None:
    for name in ("man1/kgroups-gone.1", "commands/gone.md"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    kept = tmp_path / "notes.md"
    kept.touch()
    assert {"man1/kgroups-gone.1", "commands/gone.md"}.isdisjoint(generated(tmp_path))
    assert kept.exists()


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists():
        pytest.skip("not in a clone")
    return run("git", "ls-files").splitlines()


def test_generated_text_is_not_in_git(pages: Texts, tracked: list[str]) -> None:
    assert [name for name in tracked if re.search(r"\.[1-8]$", name)] == []
    assert [name for name in tracked if name.startswith("docs/commands/")] == ["docs/commands/README.md"]
    texts = set(pages.values())
    written = [name for name in tracked if name.startswith(("docs/", "completions/"))]
    assert [name for name in written if (ROOT / name).suffix in (".md", ".1") and page_text(name) in texts] == []


def test_only_pictures_in_git_are_small_ones_of_the_readme(tracked: list[str]) -> None:
    pictures = [name for name in tracked if name.endswith((".svg", ".png", ".gif", ".jpg"))]
    assert [name for name in pictures if name not in page_text("README.md")] == []
    assert all((ROOT / name).stat().st_size < 40_000 for name in pictures)
    assert all("url(http" not in page_text(name) and "href=" not in page_text(name) for name in pictures)


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_links_lead_to_files_in_git(page: str, tracked: list[str]) -> None:
    """Readers on the web page of the repository have no other files."""
    folders = {folder.as_posix() for name in tracked for folder in Path(name).parents}
    for link in re.findall(r"\]\(([^)\s]+)\)", prose_in(page_text(page), code="")):
        path = link.partition("#")[0]
        if path and "://" not in path:
            target = (ROOT / page).parent.joinpath(path).resolve().relative_to(ROOT).as_posix()
            assert target in tracked or target in folders, link
