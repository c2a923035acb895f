"""The files that kgroups reads and writes fit their schemas."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from kgroups.config.profiles import read_profiles
from kgroups.errors import ConfigError
from kgroups.model.health.judge import CHECKS
from kgroups.model.health.rules import parse_rules
from kgroups.model.offsets import Commit
from kgroups.model.operations.origin import Source
from kgroups.model.operations.plan_file import json_plan, parse_plan
from kgroups.model.operations.plan_row import envelope
from kgroups.model.operations.reset import PlannedOffset
from kgroups.model.operations.skip import record_lines
from kgroups.model.operations.undo_file import result_line, undo_lines
from kgroups.model.outcome import Result
from kgroups.model.record import Header, RecordDetails
from kgroups.model.settings.change import PlannedSetting
from kgroups.model.settings.declared import parse_declared
from kgroups.model.settings.setting import Value
from kgroups.model.settings.undo import undo_lines as settings_undo_lines
from tests.documentation.pages import blocks_of
from tests.schemas import validate, validate_file

SOURCE = Source("c-1", topic_ids={"t": 7}).stamped("h:1", "kgroups reset-offsets g")
PLANNED = (
    PlannedOffset("g", "t", 0, Commit(0, 5, 3, "note"), Commit(0, 9)),
    PlannedOffset("g", "t", 1, None, Commit(1, 9), kind="Share", beyond_end=True),
    PlannedOffset("g", "t", 2, Commit(2, 5), None, kind="Consumer"),
)


def file_of(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize("source", [SOURCE, None])
def test_plan_fits_its_schema(source: Source | None) -> None:
    assert validate_file(file_of(list(json_plan(PLANNED, source)))) == "kgroups/plan/v1"


def test_undo_file_fits_its_schema() -> None:
    results = [result_line(Result.APPLIED, [1, 2]), result_line(Result.FAILED, [3], "it has members")]
    assert validate_file(file_of([*undo_lines(PLANNED, SOURCE), *results])) == "kgroups/undo/v2"


def test_undo_file_of_the_first_format_fits_its_schema_and_is_read() -> None:
    item = {"group": "g", "topic": "t", "partition": 0, "offset": 5, "leader_epoch": 3}
    text = json.dumps({"schema": "kgroups/undo/v1", "items": [item, {**item, "partition": 1, "offset": None}]})
    assert len(parse_plan(text, "f").rows) == 2
    validate(json.loads(text), "kgroups/undo/v1")


def test_undo_file_of_settings_fits_its_schema() -> None:
    planned = PlannedSetting("g", "k", Value("1", "group"), Value("2", "group"), "1", None)
    lines = [*settings_undo_lines([planned], SOURCE), result_line(Result.UNKNOWN, [1], what="settings")]
    assert validate_file(file_of(lines)) == "kgroups/undo-settings/v1"


def test_skipped_records_fit_their_schema() -> None:
    record = RecordDetails(12, None, b"k", None, (Header("trace", b"1"), Header("empty", None)), 1, 70, 12, None)
    lines = list(record_lines([(("g", "t", 0), [record])], envelope(SOURCE)))
    assert validate_file(file_of(lines)) == "kgroups/skipped-records/v1"


RULES = """
[[rule]]
groups = "billing"
clusters = ["eu-*", "@prod"]
state = ["Stable"]
type = "consumer"
assignor = "uniform"
members = 2
min-members = 1
stopped = false
assigned = true
max-lag = {warning = 1000, critical = 10_000}
max-topic-lag = {"orders-*" = "10,100"}
max-partition-lag = 5
max-time-lag = "30s,5m"
min-headroom = "6h,1h"
min-offset-headroom = {critical = "1d"}
max-commit-age = 30
max-redeliveries = "1,2"
max-progress-age = "5m"
trend = true
migration-ready = true
rollback-ready = true
allow-uncommitted = true
skip-missing-topics = true
"""


def test_rules_with_every_key_fit_their_schema() -> None:
    assert parse_rules(RULES, "rules.toml")
    document = tomllib.loads(RULES)
    assert {check.key for check in CHECKS} | {"groups", "clusters"} == document["rule"][0].keys()
    validate(document, "rules")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max-lag", "max-lags"),
        ("members = 2", 'members = "2"'),
        ("trend = true", "trend = 1"),
        ("warning = 1000", "warnings = 1000"),
        ("max-partition-lag = 5", "max-partition-lag = -5"),
        ('groups = "billing"', ""),
    ],
)
def test_invalid_rules_do_not_fit_the_schema(old: str, new: str) -> None:
    text = RULES.replace(old, new, 1)
    with pytest.raises(ConfigError):
        parse_rules(text, "rules.toml")
    with pytest.raises(AssertionError, match="rules"):
        validate(tomllib.loads(text), "rules")


CONFIG = """
default = "prod"

[sets]
all = ["prod", "!eu-*"]

[profiles.prod]
bootstrap = "b1:9093,b2:9093"
command-config = "prod.properties"
timeout = "1m"
broker-timeout = 5
transport = "wire"
client-id = "me"
max-requests-per-second = 10
tags = ["prod"]

[profiles.prod.properties]
security.protocol = "SSL"
"sasl.mechanism" = "PLAIN"
"""


def test_profiles_with_every_key_fit_their_schema(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(CONFIG)
    profiles = read_profiles({"KGROUPS_CONFIG": str(tmp_path / "config.toml")})
    assert profiles.profile("prod", "test").warnings == ()
    validate(tomllib.loads(CONFIG), "config")
    with pytest.raises(AssertionError, match="'boostrap' was unexpected"):
        validate(tomllib.loads(CONFIG.replace("bootstrap", "boostrap")), "config")


def test_settings_of_groups_fit_their_schema() -> None:
    text = '[groups."orders-*"]\nconsumer.session.timeout.ms = 45000\nshare.auto.offset.reset = "earliest"\n'
    assert parse_declared(text, "f").tables
    validate(tomllib.loads(text), "settings-file")


@pytest.mark.parametrize(
    ("page", "name"),
    [("docs/check.md", "rules"), ("docs/connection.md", "config"), ("docs/settings.md", "settings-file")],
)
def test_files_in_the_documentation_fit_their_schemas(page: str, name: str) -> None:
    blocks: list[dict[str, Any]] = [tomllib.loads(each.text) for each in blocks_of(page) if each.language == "toml"]
    assert blocks
    for block in blocks:
        validate(block, name)
