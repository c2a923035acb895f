"""The migration guides name only commands, options, metrics, and labels that exist, and leave out no option."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import pytest
import yaml

from kgroups.cli.main import cli
from tests.documentation.exported_metrics import exported_labels, exported_metrics
from tests.documentation.pages import PAGES, ROOT, blocks_of, page_text
from tests.unit.test_documentation import parse

MIGRATE = [page for page in PAGES if page.startswith("docs/migrate/")]
USAGE = ROOT / "kgroups/dropins/kafka-consumer-groups.usage"
"""The help of Kafka's tool, which tests/integration/test_dropin.py compares with the tool itself."""


def rows(page: str, heading: str | None = None) -> Iterator[Sequence[str]]:
    """Yield the cells of each table row of a page, or of one section; a vertical bar in a cell is escaped."""
    text = page_text(page)
    if heading is not None:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    for line in re.findall(r"^\| .*\|$", text, re.MULTILINE):
        yield [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def code_spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("page", MIGRATE)
def test_mapped_commands_and_options_exist(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGROUPS_STORE", "history")
    commands = [span for row in rows(page) for span in code_spans(row[1]) if span.startswith("kgroups ")]
    assert len(commands) >= 8
    for command in commands:
        parse(cli, shlex.split(command)[1:])


def test_every_option_of_the_java_tool_is_mapped() -> None:
    options = re.findall(r"^(--[a-z][a-z-]*)", USAGE.read_text(encoding="utf-8"), re.MULTILINE)
    mapped = [span for row in rows("docs/migrate/kafka-consumer-groups.md", "Options") for span in code_spans(row[0])]
    assert mapped == options and len(options) > 25


@pytest.mark.parametrize("page", ["burrow", "kafka-lag-exporter", "kafka_exporter"])
def test_mapped_metrics_are_exported(page: str) -> None:
    mapped = [row for row in rows(f"docs/migrate/{page}.md", "Metrics") if "`" in row[0]]
    assert len(mapped) > 8
    for theirs, ours in mapped:
        names = re.findall(r"\b(?:kafka|kgroups)_\w+", ours)
        assert set(names) <= exported_metrics(), ours
        assert names or ours.startswith("not exported"), theirs
        if page == "kafka_exporter" and names:
            assert theirs == ours


@pytest.mark.parametrize("page", ["kafka-lag-exporter", "kafka_exporter"])
def test_mapped_labels_are_exported(page: str) -> None:
    ours = [code_spans(row[1]) for row in rows(f"docs/migrate/{page}.md", "Labels") if row[1].startswith("`")]
    per_partition = exported_labels()["kafka_consumergroup_lag"]
    assert {spans[0] for spans in ours} - {"cluster", "external_labels"} == set(per_partition)


def test_metrics_named_in_the_text_are_exported() -> None:
    for page in MIGRATE:
        ours = [span for row in rows(page) for span in code_spans(row[-1])]
        names = {name for span in ours for name in re.findall(r"\b(?:kafka_consumergroup|kgroups)_\w+", span)}
        assert names <= exported_metrics(), page


def test_recording_rules_are_yaml_and_read_exported_metrics() -> None:
    (block,) = (block for block in blocks_of("docs/migrate/kafka-lag-exporter.md") if block.language == "yaml")
    (group,) = yaml.safe_load(block.text)["groups"]
    theirs = {span for row in rows(block.page, "Metrics") for span in code_spans(row[0])}
    for rule in group["rules"]:
        assert rule["record"] in theirs
        assert re.findall(r"kafka_consumergroup_\w+", rule["expr"])[0] in exported_metrics()
