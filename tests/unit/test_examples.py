"""The examples for deployments: they load, and their commands are commands of kgroups.

tests/distribution/test_templates.py lints them and runs their shell parts.
"""

from __future__ import annotations

import json
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import jsonschema
import pytest
import yaml

from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.config.flags import BOOTSTRAP_ENV, COMMAND_CONFIG_ENV
from kgroups.history.run.options import STORE_ENV
from kgroups.version import __version__
from tests.documentation.pages import ROOT, page_text
from tests.unit.test_documentation import _kgroups_commands, parse

EXAMPLES = ROOT / "docs/examples"


def manifests(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((EXAMPLES / "kubernetes" / name).read_text(encoding="utf-8")))


MANIFESTS = manifests("history.yaml")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOOTSTRAP_ENV, "localhost:9092")
    monkeypatch.setenv(STORE_ENV, "history")


class Dag:
    """Stands for Airflow's DAG: a context that has its tasks."""

    current: Dag | None = None

    def __init__(self, *, dag_id: str, **options: Any) -> None:
        self.dag_id, self.options, self.tasks = dag_id, options, []

    def __enter__(self) -> Dag:
        Dag.current = self
        return self

    def __exit__(self, *error: object) -> None:
        pass


class BashOperator:
    """Stands for Airflow's operator."""

    def __init__(self, *, task_id: str, bash_command: str, **options: Any) -> None:
        self.task_id, self.bash_command, self.options, self.next = task_id, bash_command, options, []
        assert Dag.current
        Dag.current.tasks.append(self)

    def __rshift__(self, other: BashOperator) -> BashOperator:
        self.next.append(other.task_id)
        return other


def test_airflow_example_runs_the_commands_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    bash = "airflow.providers.standard.operators.bash"
    names = [".".join(bash.split(".")[: end + 1]) for end in range(5)]
    for name in [*names, "airflow.sdk"]:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules[bash], "BashOperator", BashOperator, raising=False)
    monkeypatch.setattr(sys.modules["airflow.sdk"], "DAG", Dag, raising=False)
    runpy.run_path(str(EXAMPLES / "airflow_dag.py"))
    dag = Dag.current
    assert dag and dag.dag_id == "kgroups_history" and dag.options["max_active_runs"] == 1
    order = {task.task_id: task.next for task in dag.tasks}
    assert order == {"collect": ["test"], "test": ["compact"], "compact": ["expire"], "expire": []}
    for task in dag.tasks:
        (words,) = _kgroups_commands(task.bash_command)
        assert words[:2] == ["history", task.task_id]
        parse(cli, words)


def pods(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for manifest in found:
        match manifest["kind"]:
            case "Deployment":
                yield manifest["spec"]["template"]["spec"]
            case "CronJob":
                yield manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def containers_of(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod["containers"], *pod.get("initContainers", [])]


def test_kubernetes_example_runs_commands_of_kgroups() -> None:
    containers = [each for pod in pods(MANIFESTS) for each in containers_of(pod)]
    assert {each["command"][2] for each in containers} == {"collect", "test", "compact", "expire"}
    for container in containers:
        program, *words = container["command"]
        assert program == "kgroups" and words[0] == "history"
        parse(cli, words)
        assert [next(iter(source)) for source in container["envFrom"]] == ["configMapRef", "secretRef"]


def test_kubernetes_manifests_are_complete() -> None:
    assert [each["kind"] for each in MANIFESTS] == ["ConfigMap", "Deployment", "CronJob", "CronJob"]
    assert len({each["metadata"]["name"] for each in MANIFESTS}) == 4
    config, deployment, *jobs = MANIFESTS
    assert {BOOTSTRAP_ENV, COMMAND_CONFIG_ENV, STORE_ENV} < config["data"].keys()
    spec = deployment["spec"]
    assert (deployment["apiVersion"], spec["replicas"], spec["strategy"]["type"]) == ("apps/v1", 1, "Recreate")
    for job in jobs:
        assert (job["apiVersion"], job["spec"]["concurrencyPolicy"]) == ("batch/v1", "Forbid")
        assert len(job["spec"]["schedule"].split()) == 5


def test_kubernetes_exporter_is_found_by_its_service() -> None:
    deployment, service, policy = manifests("exporter.yaml")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    parse(cli, container["command"][1:])
    assert {each["name"] for each in container["env"]} == {BOOTSTRAP_ENV, COMMAND_CONFIG_ENV}
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == policy["spec"]["podSelector"]["matchLabels"] == labels
    (port,), (served,) = service["spec"]["ports"], container["ports"]
    assert (port["targetPort"], port["port"]) == (served["name"], served["containerPort"]) == ("metrics", 9308)
    assert container["command"][-1] == ":9308"


@pytest.mark.parametrize("name", ["exporter.yaml", "history.yaml"])
def test_kubernetes_pods_have_no_rights(name: str) -> None:
    check_pods(manifests(name))


def check_pods(found: list[dict[str, Any]]) -> None:
    for manifest in found:
        if manifest["kind"] == "Deployment":
            spec = manifest["spec"]
            assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    for pod in pods(found):
        volumes = {volume["name"] for volume in pod.get("volumes", [])}
        assert {mount["name"] for each in containers_of(pod) for mount in each.get("volumeMounts", [])} == volumes
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        for container in containers_of(pod):
            rights = container["securityContext"]
            assert rights["readOnlyRootFilesystem"] and rights["capabilities"] == {"drop": ["ALL"]}
            assert not rights["allowPrivilegeEscalation"]


def test_compose_runs_commands_of_kgroups() -> None:
    services = yaml.safe_load((EXAMPLES / "container/compose.yaml").read_text(encoding="utf-8"))["services"]
    for name in ("exporter", "collector"):
        parse(cli, services[name]["command"])
        assert services[name]["read_only"] and services[name]["cap_drop"] == ["ALL"]
    script = services["monitoring-kit"]["command"][0].replace("$$dashboard", "group")
    assert [words[:2] for words in _kgroups_commands(script)] == [["exporter", "--alerts"], ["exporter", "--dashboard"]]
    for words in _kgroups_commands(script):
        parse(cli, words)


def test_icinga_arguments_are_options_of_check() -> None:
    text = (EXAMPLES / "icinga2/kgroups.conf").read_text(encoding="utf-8")
    options = set(re.findall(r'^    "(--[a-z-]+)" = ', text, re.MULTILINE))
    check = cli.commands["check"]
    assert isinstance(check, LazyCommand)
    known = {name for option in check.load().params for name in option.opts}
    assert len(options) > 10 and options <= known
    used = set(re.findall(r"vars\.(kgroups_\w+) = ", text))
    assert used <= set(re.findall(r"\$(kgroups_\w+)\$", text))


def test_nagios_commands_are_commands_of_kgroups() -> None:
    text = (EXAMPLES / "nagios/kgroups.cfg").read_text(encoding="utf-8")
    lines = re.findall(r"command_line +/usr/local/bin/kgroups (.+)", text)
    assert len(lines) == 2
    for line in lines:
        values = {"$ARG1$": "orders", "$ARG2$": "10,20", "$HOSTADDRESS$": "kafka"}
        if "--rules" in line:
            values["$ARG1$"] = str(EXAMPLES / "nagios/kgroups.cfg")  # a file that exists
        for macro, value in values.items():
            line = line.replace(macro, value)
        parse(cli, shlex.split(line))


def test_chart_has_the_version_of_kgroups() -> None:
    chart = yaml.safe_load((EXAMPLES / "helm/kgroups/Chart.yaml").read_text(encoding="utf-8"))
    assert chart["version"] == chart["appVersion"] == __version__


def test_values_of_the_chart_match_their_schema() -> None:
    values = yaml.safe_load((EXAMPLES / "helm/kgroups/values.yaml").read_text(encoding="utf-8"))
    schema = json.loads((EXAMPLES / "helm/kgroups/values.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(values, schema)
    for wrong in ({"exporters": {}}, {"kafka": {"bootstrapServers": "kafka"}}, {"exporter": {"args": "--time"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**values, **wrong}, schema)
    parse(cli, ["history", "collect", *values["collector"]["args"]])


def test_pre_commit_hook_is_a_command_of_kgroups() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    ((*words, lint),) = _kgroups_commands(hook["entry"])
    assert (words, lint) == (["check"], "--lint")
    assert re.search(hook["files"], "deploy/kgroups-rules.toml") and not re.search(hook["files"], "rules.toml")


UNTESTED = re.compile("Not (built|started|applied|installed|run under .+) by the tests")


@pytest.mark.parametrize(
    "path", ["container/Dockerfile", "container/compose.yaml", "kubernetes/exporter.yaml", "kubernetes/history.yaml",
             "helm/kgroups/Chart.yaml", "icinga2/kgroups.conf", "nagios/kgroups.cfg"]
)  # fmt: skip
def test_example_names_what_is_not_tested(path: str) -> None:
    assert UNTESTED.search((EXAMPLES / path).read_text(encoding="utf-8"))


def test_documentation_links_to_the_examples() -> None:
    pages = page_text("docs/history.md") + page_text("docs/deploy.md")
    for file in EXAMPLES.rglob("*"):
        if file.is_file() and file.suffix != ".dockerignore":
            name = file.relative_to(EXAMPLES).as_posix()
            assert f"](examples/{'helm/kgroups' if name.startswith('helm/') else name})" in pages
