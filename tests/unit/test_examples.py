"""The examples for Airflow and Kubernetes: they load, and their commands are commands of kgroups."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import yaml

from kgroups.cli.history.options import STORE_ENV
from kgroups.cli.main import cli
from kgroups.config.flags import BOOTSTRAP_ENV, COMMAND_CONFIG_ENV
from tests.documentation.pages import ROOT, page_text
from tests.unit.test_documentation import _kgroups_commands, parse

EXAMPLES = ROOT / "docs/examples"
MANIFESTS = list(yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text(encoding="utf-8")))


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


def pods() -> Iterator[dict[str, Any]]:
    for manifest in MANIFESTS:
        match manifest["kind"]:
            case "Deployment":
                yield manifest["spec"]["template"]["spec"]
            case "CronJob":
                yield manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def test_kubernetes_example_runs_commands_of_kgroups() -> None:
    containers = [each for pod in pods() for each in [*pod["containers"], *pod.get("initContainers", [])]]
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
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    for job in jobs:
        assert (job["apiVersion"], job["spec"]["concurrencyPolicy"]) == ("batch/v1", "Forbid")
        assert len(job["spec"]["schedule"].split()) == 5
    for pod in pods():
        volumes = {volume["name"] for volume in pod.get("volumes", [])}
        mounts = {mount["name"] for each in pod["containers"] for mount in each.get("volumeMounts", [])}
        assert mounts == volumes


def test_documentation_links_to_the_examples() -> None:
    for file in EXAMPLES.iterdir():
        if file.is_file():
            assert f"](examples/{file.name})" in page_text("docs/history.md")
