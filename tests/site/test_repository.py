"""The files of the site, from those of the repository: links out of docs/, pictures, and generated pages."""

from __future__ import annotations

import importlib.util
import posixpath
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.documentation.pages import ROOT, anchors, prose_in


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_repository", ROOT / "docs/site/repository.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, for a repository with one page in docs/, and one elsewhere."""
    module = loaded()
    for name, value in {
        "ROOT": tmp_path,
        "DOCS": tmp_path / "docs",
        "PICTURES": tmp_path / "pictures",
        "README_PICTURES": tmp_path / "docs" / "pictures",
        "ELSEWHERE": {"README.md": "project/readme.md"},
    }.items():
        monkeypatch.setattr(module, name, value)
    for folder in ("docs", "code/parts"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "README.md").write_text("[page](docs/page.md#part), [site](https://example.org)\n")
    (tmp_path / "code" / "parts" / "a.sql").write_text("select 1\n")
    return module


def test_links_out_of_docs_lead_to_pages_and_texts(repository: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "docs" / "page.md").write_text(
        "[start](../README.md), [`a`](../code/parts/a.sql), [all](../code/parts)\n`[no](link.md)`\n"
        "```text\n[no](link.md)\n```\n"
    )
    files = repository.site_files({})
    assert files["page.md"].splitlines()[:2] == [
        "[start](project/readme.md), [`a`](files/code/parts/a.sql.txt), [all](files/code/parts.txt)",
        "`[no](link.md)`",
    ]
    assert files["project/readme.md"] == "[page](../page.md#part), [site](https://example.org)\n"
    assert files["files/code/parts/a.sql.txt"] == "select 1\n"
    assert files["files/code/parts.txt"] == "==== a.sql ====\n\nselect 1\n"


def test_link_to_no_file_is_an_error(repository: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "docs" / "page.md").write_text("[gone](../code/gone.py)\n")
    with pytest.raises(repository.BrokenLink, match=r"docs/page\.md: link to \.\./code/gone\.py: no such file"):
        repository.site_files({})


def test_picture_is_shown_only_if_it_was_made(repository: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "docs" / "page.md").write_text("# Page\n\n<!-- picture: lag: The lag -->\n")
    assert repository.site_files({})["page.md"] == "# Page\n\n\n"
    (tmp_path / "pictures").mkdir()
    for name in ("lag-light.svg", "lag-dark.svg", "notes.txt"):
        (tmp_path / "pictures" / name).touch()
    assert repository.site_files({})["page.md"] == (
        "# Page\n\n![The lag](pictures/lag-light.svg#only-light)\n![The lag](pictures/lag-dark.svg#only-dark)\n"
    )
    assert [path.name for path in repository.pictures()] == ["lag-dark.svg", "lag-light.svg"]


def test_picture_for_github_is_one_of_the_site(repository: ModuleType, tmp_path: Path) -> None:
    html = (
        '<picture>\n  <source srcset="{0}pictures/a-dark.svg">\n'
        '  <img alt="The lag" src="{0}pictures/a-light.svg">\n</picture>\n'
    )
    (tmp_path / "docs" / "page.md").write_text(
        "# Page\n\n" + html.format("") + "\n<!-- picture: b: None -->\n\n## Part\n"
    )
    (tmp_path / "README.md").write_text(html.format("docs/"))
    (tmp_path / "docs" / "pictures").mkdir()
    for name in ("a-light.svg", "a-dark.svg"):
        (tmp_path / "docs" / "pictures" / name).touch()
    files = repository.site_files({})
    shown = "![The lag]({0}pictures/a-light.svg#only-light)\n![The lag]({0}pictures/a-dark.svg#only-dark)\n"
    assert files["page.md"] == "# Page\n\n" + shown.format("") + "\n\n\n## Part\n"
    assert files["project/readme.md"] == shown.format("../")


def test_parts_and_pages_of_commands_are_generated(repository: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "docs" / "page.md").write_text("# Page\n\n<!-- generated: table -->\n")
    (tmp_path / "docs" / "commands").mkdir()
    (tmp_path / "docs" / "commands" / "README.md").write_text("[lag](lag.md)\n")
    generated = {"parts/table.md": "| [lag](commands/lag.md) |\n", "commands/lag.md": "[page](../page.md)\n"}
    files = repository.site_files(generated)
    assert files["page.md"] == "# Page\n\n| [lag](commands/lag.md) |\n\n"
    assert files["commands/README.md"] == "[lag](lag.md)\n"
    assert files["commands/lag.md"] == "[page](../page.md)\n"
    assert "parts/table.md" not in files
    for gone in ("../gone.md", "other.md"):
        with pytest.raises(repository.BrokenLink, match=r"docs/commands/lag\.md: link to "):
            repository.site_files({**generated, "commands/lag.md": f"[gone]({gone})\n"})


def test_pages_of_the_repository_and_generated_pages_lead_to_places_of_the_site() -> None:
    module = loaded()
    generated = module.generated()
    files = module.site_files(generated)
    assert not any("<!-- generated" in text for text in files.values())
    assert {name for name in generated if name.startswith("commands/")} < files.keys()
    assert all(text in files[f"{place}.md"] for place, text in {
        "commands/README": generated["parts/commands.md"], "data-dictionary": generated["parts/data-dictionary.md"]
    }.items())  # fmt: skip
    pages = {place: text for place, text in files.items() if place.endswith(".md")}
    links = 0
    for place, text in pages.items():
        for link in re.findall(r"\]\(([^)\s]+)\)", prose_in(text, code="")):
            path, _, anchor = link.partition("#")
            if "://" in path or path.startswith(("mailto:", "pictures/", "../pictures/")):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(place), path)) if path else place
            assert target in files, (place, link)
            assert not anchor or anchor in anchors(files[target]), (place, link)
            links += 1
    assert links > 500
