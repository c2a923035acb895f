"""The GitHub action and the GitLab template: their shell parts install kgroups, and check real groups."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from junitparser import JUnitXml

from tests.integration.known_cluster import KnownCluster
from tests.integration.versions import newest_only

pytestmark = newest_only

ROOT = Path(__file__).parents[2]
GITHUB = yaml.safe_load((ROOT / ".ci/github/action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((ROOT / ".ci/gitlab/check.yml").read_text(encoding="utf-8"))[".kgroups-check"]
RULES = '[[rule]]\ngroups = ["orders-range"]\nstate = ["Stable"]\n'
PROBLEM = "orders-range: lag 50 is above 40"


def run(shell: str, script: str, where: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    command = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"], "sh": ["sh", "-e", "-c"]}[shell]
    # Without the packages that kgroups needs, which are those of the tests.
    packages = {"PIP_NO_DEPS": "1", "PYTHONPATH": sysconfig.get_path("purelib")}
    env = {**os.environ, **packages, **variables}
    return subprocess.run(
        [*command, script], cwd=where, env=env, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where both have installed kgroups."""
    where = tmp_path_factory.mktemp("ci")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(where), str(ROOT)]
    subprocess.run(build, capture_output=True, check=True, timeout=300)
    (wheel,) = map(str, where.glob("*.whl"))
    action = run("bash", GITHUB["runs"]["steps"][0]["run"], where, {"RUNNER_TEMP": str(where), "PACKAGE": wheel})
    template = run("sh", "\n".join(GITLAB["before_script"]), where, {"CHECK_PACKAGE": wheel})
    assert (action.returncode, template.returncode) == (0, 0), action.stderr + template.stderr
    return where


def github(where: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run the action as GitHub does: inputs, defaults, and the files to which steps write."""
    step: dict[str, Any] = GITHUB["runs"]["steps"][1]
    files = {"GITHUB_OUTPUT": where / "output", "GITHUB_STEP_SUMMARY": where / "summary"}
    for file in files.values():
        file.write_text("")
    given = {key: inputs.get(key.replace("-", "_"), each["default"]) for key, each in GITHUB["inputs"].items()}
    variables = {}
    for name, value in step["env"].items():
        key = value.removeprefix("${{ inputs.").removesuffix(" }}")
        variables[name] = given[key]
    variables |= {"RUNNER_TEMP": str(where), **{name: str(file) for name, file in files.items()}}
    done = run(step["shell"], step["run"], where, variables)
    return done, {name: file.read_text() for name, file in files.items()}


def test_action_that_finds_problems_fails_and_shows_them(known_cluster: KnownCluster, installed: Path) -> None:
    (installed / "rules.toml").write_text(RULES)
    bootstrap = known_cluster.sandbox.bootstrap
    words = "orders-range\n--max-lag=40\n"
    done, files = github(installed, rules="rules.toml", arguments=words, bootstrap_server=bootstrap)
    assert done.returncode == 2, done.stderr
    assert any(line.startswith("::error") and "lag 50 is above 40" in line for line in done.stdout.splitlines())
    assert files["GITHUB_OUTPUT"] == "result=CRITICAL\n"
    assert "orders-range" in files["GITHUB_STEP_SUMMARY"]
    assert JUnitXml.fromfile(str(installed / "kgroups-check.xml")).failures == 1


def test_action_without_problems_passes(known_cluster: KnownCluster, installed: Path) -> None:
    (installed / "client.properties").write_text(f"bootstrap.servers={known_cluster.sandbox.bootstrap}\n")
    done, files = github(installed, arguments="orders-range", command_config="client.properties")
    assert (done.returncode, files["GITHUB_OUTPUT"]) == (0, "result=OK\n"), done.stdout + done.stderr


def test_action_takes_no_value_for_a_command(known_cluster: KnownCluster, installed: Path) -> None:
    name = '$(touch made) "; touch made; #'
    done, files = github(installed, arguments=name, bootstrap_server=known_cluster.sandbox.bootstrap)
    assert (done.returncode, files["GITHUB_OUTPUT"]) == (2, "result=CRITICAL\n"), done.stdout + done.stderr
    assert "touch made" in done.stdout and not (installed / "made").exists()


def test_action_that_cannot_decide_fails(installed: Path) -> None:
    done, files = github(installed, arguments="orders-range\n--timeout=1s", bootstrap_server="127.0.0.1:1")
    assert (done.returncode, files["GITHUB_OUTPUT"]) == (3, "result=UNKNOWN\n"), done.stdout + done.stderr


@pytest.mark.parametrize(("limit", "code"), [("40", 2), ("50", 0)])
def test_template_fails_on_problems_alone(known_cluster: KnownCluster, installed: Path, limit: str, code: int) -> None:
    (installed / "rules.toml").write_text(RULES)
    variables = {
        **GITLAB["variables"],
        "KGROUPS_BOOTSTRAP_SERVER": known_cluster.sandbox.bootstrap,
        "CHECK_ARGUMENTS": f"orders-range\n--max-lag={limit}",
        "CHECK_RULES": "rules.toml",
    }
    (script,) = GITLAB["script"]
    done = run("sh", script, installed, variables)
    assert done.returncode == code, done.stdout + done.stderr
    assert (PROBLEM in done.stdout) == bool(code)
    report = GITLAB["artifacts"]["reports"]["junit"]
    assert JUnitXml.fromfile(str(installed / report)).failures == bool(code)
