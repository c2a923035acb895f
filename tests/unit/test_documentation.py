"""The documentation is complete and correct where that needs no broker: links, commands, settings, and terms."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import click
import pytest

from kgroups import errors
from kgroups.admin import fleet
from kgroups.admin.query import count_unread, next_records
from kgroups.admin.translation import find_offset, mirror
from kgroups.cli import waves
from kgroups.cli.change import plan_source
from kgroups.cli.frame import options
from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.config import profiles, properties
from kgroups.config.profiles import read_profiles
from kgroups.errors import KgroupsError, Reason
from kgroups.exporter import server as exporter_server
from kgroups.history.engine import sealed
from kgroups.history.jobs import shares
from kgroups.history.stored import derived
from kgroups.model.health.rules import parse_rules
from kgroups.net import dial, pool
from kgroups.protocol import budget, framing
from kgroups.protocol.apis import metadata
from kgroups.watch import ticks
from tests.documentation.pages import (
    DISCOURAGED,
    GUIDES,
    LANGUAGES,
    PAGES,
    PAIR,
    ROOT,
    SECURE,
    SEEDED,
    anchors,
    blocks_of,
    console_blocks,
    page_text,
    prose_of,
)
from tests.documentation.running import differences

NOT_RUN = 14
"""Console blocks that are not run, each with a reason, without those of guides. Add one only if it cannot be run."""

EXECUTED_PYTHON = {"docs/python.md": 2}
"""Run by tests/unit/api/test_cluster.py."""

MIB = 1 << 20
BOUNDS = {
    "one response of a broker": (framing.MAX_FRAME // MIB, framing.MAX_UNTRUSTED_FRAME // 1024),
    "uncompressed records of one response": (budget.UNPACKED // MIB,),
    "brokers in the metadata": (metadata.MOST_BROKERS,),
    "connections": (pool.DIALS, pool.BOOTSTRAP_DIALS, pool.MOST_OPEN),
    "name resolutions at a time": (dial.LOOKUPS,),
    "clusters that are queried at a time": (fleet.PARALLEL,),
    "a client configuration file": (properties.MAX_SIZE // MIB,),
    "nested tables in `config.toml`": (profiles._MAX_DEPTH,),
    "a plan or undo file": (plan_source.LARGEST // MIB,),
    "`--deep`, for each partition": (options._DEEP_MIB, int(options._DEEP_SECONDS)),
    "`waves`, for each partition of `__transaction_state` and `__consumer_offsets`": (
        waves.LOG_MIB,
        int(waves.LOG_SECONDS),
    ),
    "`translate`, `parity`, of the logs of both clusters for each offset": (
        find_offset.Limits().bytes // MIB,
        int(find_offset.Limits().seconds),
    ),
    "`translate`, `parity` with `--mm2`, of offset syncs and of checkpoints": (
        mirror.LIMITS.bytes // MIB,
        int(mirror.LIMITS.seconds),
    ),
    "`lag --exact`, after each committed offset": (count_unread.LIMIT // MIB,),
    "`reset-offsets --skip-records`, records that are read and saved": (next_records.LIMIT // MIB,),
    "series of the exporter": (1_000_000,),
    "requests that the exporter answers at the same time, except health checks": (exporter_server.CONNECTIONS,),
    "connections of the exporter without a complete request": (
        exporter_server.OPEN,
        int(exporter_server.REQUEST_SECONDS),
    ),
    "CPU of `watch`": (int(ticks.BUDGET * 100),),
    "a result of `history sql --untrusted`": (sealed.LARGEST // 1_000_000,),
    "a derived table in a task of Spark": (int(derived.MEMORY.removesuffix("GB")),),
    "records that `history collect` reads without Spark": (shares.MAX_OFFSETS,),
}
"""The first column of the table of bounds in docs/limits.md, and the numbers that its row must have."""


def commands(group: click.Group, path: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        command = command.load() if isinstance(command, LazyCommand) else command
        yield f"{path} {name}"
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


@pytest.mark.parametrize("path", list(commands(cli, "kgroups")))
def test_documentation_names_every_command(path: str) -> None:
    assert any(path in page_text(page) for page in PAGES if page.startswith("docs/"))


def test_readme_fits_its_limit_and_has_two_pictures_of_real_runs() -> None:
    text = page_text("README.md")
    assert len(text.splitlines()) <= 200
    assert "![" not in text and text.count("<img alt=") == text.count("<img") == text.count("<picture>") == 2


def test_readme_begins_with_the_installation_and_an_example_that_succeeds() -> None:
    install, first, *_ = console_blocks("README.md")
    assert [example.command for example in install.examples] == ["pip install ."]
    assert first.examples[0].output and "kgroups:" not in first.examples[0].output


@pytest.mark.parametrize("page", PAGES)
def test_index_links_to_page(page: str) -> None:
    name = page.removeprefix("docs/")
    assert page in ("README.md", "docs/README.md") or f"]({name}" in page_text("docs/README.md").replace("](../", "](")


@pytest.mark.parametrize("page", PAGES)
def test_fenced_blocks_have_a_language_and_commands_are_in_console_blocks(page: str) -> None:
    for block in blocks_of(page):
        place = f"{page}:{block.line}"
        assert block.language in LANGUAGES, place
        assert block.cluster in (PAIR, SEEDED, SECURE), place
        assert bool(re.search(r"^\$ ", block.text, re.MULTILINE)) == (block.language == "console"), place
        assert page in EXECUTED_PYTHON or block.language != "python" or page == "docs/history.md" or block.title, place


def test_only_known_console_blocks_are_not_run() -> None:
    pages = [page for page in PAGES if page not in GUIDES]
    reasons = [block.not_run for page in pages for block in console_blocks(page) if block.not_run]
    assert all(len(reason) > 15 for reason in reasons)
    assert len(reasons) == NOT_RUN


@pytest.mark.parametrize("page", GUIDES)
def test_guides_run_every_block_except_those_about_the_sandbox(page: str) -> None:
    for block in blocks_of(page):
        commands = [example.command for example in block.examples]
        about_sandbox = all("kgroups sandbox" in each or each.startswith("cp ") for each in commands)
        about_installation = any(each.startswith("pip install") for each in commands)
        assert block.not_run is None or about_sandbox or about_installation, f"{page}:{block.line}"


@pytest.mark.parametrize("page", GUIDES)
def test_files_of_guides_are_announced_and_used(page: str) -> None:
    """The sentence before a file names it, and a later command of the same cluster uses it."""
    text = page_text(page)
    for block in blocks_of(page):
        if block.title is None:
            continue
        start = text.index(f'title="{block.title}"')
        later = [each for each in console_blocks(page) if each.line > block.line and each.cluster == block.cluster]
        assert f"`{block.title}`" in text[:start].rpartition("\n## ")[2], block.title
        assert any(block.title in each.text for each in later), block.title


@pytest.mark.parametrize("page", [page for page in GUIDES if page.startswith("docs/tutorials/")])
def test_tutorials_state_needs_and_time_and_clean_up(page: str) -> None:
    text = page_text(page)
    assert "**You need**" in text and "**Time:**" in text
    assert [block.text.strip() for block in console_blocks(page)][-1] == "$ kgroups sandbox down"


def test_promises_and_limits_are_backed_by_tests_and_constants() -> None:
    promises = re.findall(r"`(tests/[\w./]+\.py)::(\w+)`", page_text("docs/limits.md"))
    assert len(promises) > 15
    for file, name in promises:
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), name
    table = page_text("docs/limits.md").partition("\n## Bounds\n")[2].partition("\n## ")[0]
    bounds = dict(re.findall(r"^\| (.+?) \| (.+?) \| \[.+\) \|$", table, re.MULTILINE))
    for what, numbers in BOUNDS.items():
        assert all(re.search(rf"\b{number:,}\b", bounds[what]) for number in numbers), what
    assert set(bounds) == set(BOUNDS)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(page) + "\n".join(_code_links(page))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text(encoding="utf-8")), target


def _code_links(page: str) -> list[str]:
    return re.findall(r"\[`[^`]+`\](\([^)]+\))", page_text(page))


@pytest.mark.parametrize("page", PAGES)
def test_prose_avoids_discouraged_words(page: str) -> None:
    found = [match[0] for match in DISCOURAGED.finditer(prose_of(page))]
    assert not found


@pytest.mark.parametrize("page", [page for page in PAGES if console_blocks(page)])
def test_commands_of_console_blocks_parse(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGROUPS_STORE", "history")  # an earlier example exports it
    for block in console_blocks(page):
        for example in block.examples:
            for words in _kgroups_commands(example.command):
                parse(cli, words)


def _kgroups_commands(command: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars="|&;()<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] | None = None
    for word, following in pairwise([*lexer, ";"]):
        if word == "kgroups" and words is None:
            words = []
        elif words is not None and (word[0] in "|&;()<>" or (word == "2" and following[0] == ">")):
            yield words
            words = None
        elif words is not None:
            words.append(word)
    if words is not None:
        yield words


def parse(command: click.Command, words: list[str]) -> None:
    """Parse the words of a command line without running it."""
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.commands[words[0]]
        command, words = found.load() if isinstance(found, LazyCommand) else found, words[1:]
    if words not in (["--version"], ["--help"], ["--help-json"]):
        with suppress(click.exceptions.Exit):  # by options that print something instead
            command.make_context(str(command.name), list(words))


def test_rules_in_the_documentation_are_valid() -> None:
    (rules,) = _toml("docs/check.md")
    assert parse_rules(rules, "docs/check.md")


def test_profiles_in_the_documentation_are_valid(tmp_path: Path) -> None:
    (text,) = _toml("docs/connection.md")
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    assert read_profiles({"KGROUPS_CONFIG": str(file)})


def _toml(page: str) -> list[str]:
    found = [block.text for block in blocks_of(page) if block.language == "toml"]
    for text in found:
        tomllib.loads(text)
    return found


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_paths_in_pages_for_contributors_exist(page: str) -> None:
    paths = re.findall(r"`((?:kgroups|tests|bench|completions|docs)/[\w./-]*)`", page_text(page))
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_architecture_names_every_package() -> None:
    text = page_text("docs/architecture.md")
    packages = [folder for folder in (ROOT / "kgroups").iterdir() if (folder / "__init__.py").exists()]
    assert [folder.name for folder in sorted(packages) if f"`kgroups/{folder.name}/`" not in text] == []


def test_errors_have_a_section_for_each_reason() -> None:
    _, *sections = re.split(r"^## ", page_text("docs/errors.md"), flags=re.MULTILINE)
    reasons = {section.partition("\n")[0]: section for section in sections}
    assert list(reasons) == [reason.value for reason in Reason]
    for reason, section in reasons.items():
        for part in ("\n- **Likely causes**: ", "\n- **What to do**: ", "\n- **Exit code**: ", "\n```text\n"):
            assert part in section, reason


def test_exit_codes_of_errors_are_those_of_the_exceptions() -> None:
    text = page_text("docs/errors.md")
    shown = dict(re.findall(r"^## (\w+)$.*?^- \*\*Exit code\*\*: (\d)\.$", text, re.MULTILINE | re.DOTALL))
    raised = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, KgroupsError)]
    assert len(raised) > 15
    assert {each.default_reason.value: str(each.exit_code) for each in raised}.items() <= shown.items()


def test_metrics_in_the_documentation_are_those_of_the_exporter() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "kgroups/exporter").rglob("metrics*.py"))
    own, other_exporters, _ = page_text("docs/exporter.md").partition("## Change from another exporter")
    names = set(re.findall(r"`((?:kafka_consumergroup|kgroups)_\w+)`", own))
    assert other_exporters  # tests/unit/exporter reads these
    assert names
    assert {name for name in names if name.removesuffix("_total") not in source} == set()


def test_differences_ignore_volatile_names_and_column_widths_only() -> None:
    shown = "GROUP  COORDINATOR (ID)     LAG\norders 127.0.0.1:21734 (3)   5\n"
    assert differences(shown, "GROUP   COORDINATOR (ID)      LAG\norders  127.0.0.1:9092 (1)      5\n") == []
    assert differences(shown, "GROUP   COORDINATOR (ID)      LAG\norders  127.0.0.1:9092 (1)      6\n")
    assert differences(shown, f"{shown}another line\n")
    assert differences(f"{shown}...\n", f"{shown}another line\n") == []
    assert differences("read ... records\n", "read 12 records\n") == []
    assert differences("read ... records\n", "wrote 12 records\n")
    assert differences("a\n", "kgroups: note: watching 1 group for up to 2 s: clients may still commit\na\n") == []
    assert differences("a\n", "kgroups: note: something else\na\n")
