"""Every console example of the documentation, run on real brokers; the output must be what the page shows.

With ``--rebuild-golden`` the pages are rewritten instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from kgroups.sandbox import Sandbox
from kgroups.sandbox.kinds import KINDS, seed_kinds
from kgroups.sandbox.security import Acl, up
from kgroups.sandbox.seed import seed_known_groups
from tests.conftest import kafka_versions
from tests.documentation.pages import PAGES, PAIR, SECURE, SEEDED, console_blocks, steps_of
from tests.documentation.running import differences, rewrite, run_examples
from tests.integration.conftest import CALM
from tests.integration.copied_topic import make_copied_topic
from tests.integration.versions import MAIN
from tests.schemas import validate_output

Environment = Mapping[str, str]


@pytest.fixture(scope="module")
def version(request: pytest.FixtureRequest, jdk: None, require_program: Callable[[str], None]) -> str:
    """The Kafka version whose output the pages show."""
    if MAIN not in kafka_versions(request.config):
        pytest.skip(f"the pages show the output of Kafka {MAIN}")
    for program in ("curl", "jq"):
        require_program(program)
    return MAIN


@pytest.fixture(scope="module")
def seeded(version: str) -> Iterator[Environment]:
    """Three brokers with all groups that ``kgroups sandbox seed`` can make."""
    with Sandbox.up(version, 3, name=f"pytest-{os.getpid()}-docs", properties=CALM) as sandbox:
        seed_known_groups(sandbox, timeout=300)
        seed_kinds(sandbox, list(KINDS), timeout=300)
        yield {"KGROUPS_BOOTSTRAP_SERVER": sandbox.bootstrap}


@pytest.fixture(scope="module")
def secure(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """One broker with TLS, SASL, and ACLs; principal ann may describe one group and its topic, and bob nothing."""
    folder = tmp_path_factory.mktemp("clients")
    with up(
        version, name=f"pytest-{os.getpid()}-docs-secure", users=["ann", "bob"], kerberos=False, properties=CALM
    ) as started:
        seed_known_groups(started.sandbox, timeout=300)
        started.allow(Acl("ann", "describe", "group", "payments-empty"), Acl("ann", "describe", "topic", "payments"))
        files = {
            "ann": started.user_file("ann"),
            "bob": started.user_file("bob"),
            "operator": started.file("sasl-ssl-scram-sha-512"),
        }
        for name, file in files.items():
            shutil.copy(file, folder / f"{name}.properties")
        lines = files["operator"].read_text(encoding="utf-8").splitlines(keepends=True)
        client = folder / "client.properties"
        client.touch(mode=0o600)
        client.write_text("".join(line for line in lines if "jaas" not in line), encoding="utf-8")
        yield {"CLIENTS": str(folder), "KGROUPS_BOOTSTRAP_SERVER": started.sandbox.bootstrap}


@pytest.fixture(scope="module")
def pair(version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """Two clusters, as the profiles east and west, and a topic with its copy."""
    profiles = tmp_path_factory.mktemp("profiles") / "config.toml"
    name = f"pytest-{os.getpid()}-docs"
    with (
        Sandbox.up(version, name=f"{name}-east", properties=CALM) as east,
        Sandbox.up(version, name=f"{name}-west", properties=CALM) as west,
    ):
        make_copied_topic(east.bootstrap, west.bootstrap)
        profiles.write_text(
            f'[profiles.east]\nbootstrap = "{east.bootstrap}"\n[profiles.west]\nbootstrap = "{west.bootstrap}"\n',
            encoding="utf-8",
        )
        yield {"KGROUPS_CONFIG": str(profiles)}


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.cluster == SEEDED for b in console_blocks(page))])
def test_examples_match_the_output(
    page: str, seeded: Environment, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    _compare(page, SEEDED, seeded, tmp_path, request.config)


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.cluster == SECURE for b in console_blocks(page))])
def test_examples_with_acls_match_the_output(
    page: str, secure: Environment, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for file in Path(secure["CLIENTS"]).iterdir():
        shutil.copy(file, tmp_path)
    _compare(page, SECURE, secure, tmp_path, request.config)


@pytest.mark.parametrize("page", [page for page in PAGES if any(b.cluster == PAIR for b in console_blocks(page))])
def test_examples_of_two_clusters_match_the_output(
    page: str, pair: Environment, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    _compare(page, PAIR, pair, tmp_path, request.config)


def _compare(page: str, cluster: str, environment: Environment, folder: Path, config: pytest.Config) -> None:
    printed = run_examples(steps_of(page, cluster), environment, folder)
    for block, outputs in printed.items():
        for example, output in zip(block.examples, outputs, strict=True):
            if "jsonl" not in example.command:  # whose lines are mixed with those of stderr
                validate_output(example.command.split(), output)
    if config.getoption("--rebuild-golden"):
        rewrite(page, printed)
        pytest.skip(f"{page} was rewritten")
    wrong = [
        "\n".join((f"{page}:{block.line}: $ {example.command}", *found))
        for block, outputs in printed.items()
        for example, output in zip(block.examples, outputs, strict=True)
        if (found := differences(example.output, output))
    ]
    assert not wrong, "\n\n".join(wrong)
