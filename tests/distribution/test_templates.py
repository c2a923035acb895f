"""The examples for deployments: linters accept them, and their shell parts run."""

from __future__ import annotations

import getpass
import grp
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile_parse import DockerfileParser

from kgroups.version import __version__
from tests.distribution.build import WHEELHOUSE
from tests.distribution.offline import offline, offline_environment
from tests.unit.test_examples import EXAMPLES, ROOT, check_pods

BIN = Path(sys.executable).parent
KGROUPS = BIN / "kgroups"
CHART = EXAMPLES / "helm/kgroups"
DOCKERFILE = EXAMPLES / "container/Dockerfile"
COMPOSE = yaml.safe_load((EXAMPLES / "container/compose.yaml").read_text(encoding="utf-8"))
ACTION = ROOT / ".ci/github/action.yml"
GITLAB = ROOT / ".ci/gitlab/check.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
YAML_RULES = (
    "{extends: default, rules: {line-length: {max: 160}, document-start: disable, braces: {max-spaces-inside: 0}, \
comments: {min-spaces-from-content: 1}}}"
)
LINTERS = {
    "hadolint": (DOCKERFILE,),
    "yamllint": ("--strict", "-d", YAML_RULES, ACTION, GITLAB, HOOKS, *sorted(EXAMPLES.glob("*/*.yaml"))),
    "yamllint of the chart": ("--strict", "-d", YAML_RULES, CHART / "Chart.yaml", CHART / "values.yaml"),
    "check-jsonschema of the action": ("--builtin-schema", "vendor.github-actions", ACTION),
    "check-jsonschema of compose": ("--builtin-schema", "vendor.compose-spec", EXAMPLES / "container/compose.yaml"),
}


@pytest.mark.parametrize("name", LINTERS)
def test_linter_accepts(name: str) -> None:
    offline(BIN / name.split()[0], *LINTERS[name])


@pytest.mark.parametrize(("when", "valid"), [("always", True), ("sometimes", False)])
def test_gitlab_template_is_a_valid_job(when: str, valid: bool, tmp_path: Path) -> None:
    """As a job: the schema of GitLab accepts anything in a hidden job."""
    job = tmp_path / "job.yml"
    text = GITLAB.read_text(encoding="utf-8").replace(".kgroups-check:", "kgroups-check:")
    job.write_text(text.replace("when: always", f"when: {when}"))
    words = ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", job)
    offline(BIN / "check-jsonschema", *words, code=0 if valid else 1)


def scripts() -> Iterator[tuple[str, str, str]]:
    for step in yaml.safe_load(ACTION.read_text(encoding="utf-8"))["runs"]["steps"]:
        yield step["name"], step["shell"], step["run"]
    template = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))[".kgroups-check"]
    yield "before_script", "sh", "\n".join(template["before_script"])
    yield "script", "sh", "\n".join(template["script"])
    yield "monitoring-kit", "sh", COMPOSE["services"]["monitoring-kit"]["command"][0].replace("$$", "$")


@pytest.mark.parametrize(("name", "shell", "script"), list(scripts()), ids=lambda value: value.split("\n")[0][:20])
def test_shellcheck_accepts(name: str, shell: str, script: str) -> None:
    command = [BIN / "shellcheck", f"--shell={shell}", "--exclude=SC1091,SC2016", "-"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def image(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of the stage "build" of the Dockerfile: ADD and RUN, in a folder, without network."""
    root = tmp_path_factory.mktemp("image")
    shutil.copytree(wheelhouse, root / "wheels" / WHEELHOUSE)  # ADD extracts the archive
    for instruction, value in stage("build"):
        if instruction == "RUN":
            script = value.replace("/opt/", f"{root}/opt/").replace("/wheels/", f"{root}/wheels/")
            offline("sh", "-ec", script, PATH=f"{BIN}:/usr/bin:/bin")
        else:
            assert (instruction, value.split()) == (
                "ADD",
                [f"dist/{WHEELHOUSE.replace(__version__, '*')}.tar", "/wheels/"],
            )
    return root


def stage(name: str) -> list[tuple[str, str]]:
    """Return the instructions of a stage of the Dockerfile, after FROM."""
    found: list[tuple[str, str]] = []
    current = ""
    for each in DockerfileParser(path=str(DOCKERFILE), cache_content=True).structure:
        if each["instruction"] == "FROM":
            current = each["value"].split()[-1]
        elif current == name and each["instruction"] != "COMMENT":
            found.append((each["instruction"], each["value"]))
    return found


def test_image_serves_metrics_and_is_healthy(image: Path, bootstrap: str, tmp_path: Path) -> None:
    final = dict(stage("exporter"))
    assert final["USER"] == "65532:65532" and "--from=build /opt/kgroups /opt/kgroups" in final["COPY"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    program, *words = json.loads(final["ENTRYPOINT"]) + json.loads(final["CMD"])
    environment = offline_environment(KGROUPS_BOOTSTRAP_SERVER=bootstrap, HOME=str(tmp_path))
    command = [image / "opt/kgroups/bin" / program, *(word.replace(final["EXPOSE"], port) for word in words)]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as exporter:
        try:
            assert exporter.stderr and port in exporter.stderr.readline()  # after the first poll
            check = json.loads(final["HEALTHCHECK"].removeprefix("CMD"))
            offline(image / "opt/kgroups/bin" / check[0], *(word.replace(final["EXPOSE"], port) for word in check[1:]))
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
                assert 'kafka_consumergroup_total_lag{consumergroup="orders"} 10.0' in answer.read().decode()
            exporter.terminate()
            assert exporter.wait(60) == -signal.SIGTERM
        finally:
            exporter.kill()


def test_stages_of_the_image_have_no_build_tools() -> None:
    for name in ("exporter", "collector"):
        copied = [value for instruction, value in stage(name) if instruction in ("COPY", "ADD")]
        assert len(copied) == 1 and copied[0].endswith(" /opt/kgroups /opt/kgroups"), copied
        installed = re.findall(r"install --yes --no-install-recommends (.+?) *&&", " ".join(map(" ".join, stage(name))))
        assert installed == ([] if name == "exporter" else ["openjdk-17-jre-headless"])


def test_monitoring_kit_is_accepted_by_prometheus(require_program: Callable[..., str], tmp_path: Path) -> None:
    promtool = require_program("promtool")
    script = COMPOSE["services"]["monitoring-kit"]["command"][0].replace("$$", "$").replace("/kit/", f"{tmp_path}/")
    offline("sh", "-ec", script, PATH=f"{BIN}:/usr/bin:/bin")
    assert {path.name for path in tmp_path.iterdir()} == {"alerts.yaml", "fleet.json", "group.json", "partition.json"}
    config = tmp_path / "prometheus.yml"
    config.write_text(COMPOSE["configs"]["prometheus"]["content"].replace("/kit/", f"{tmp_path}/"))
    offline(promtool, "check", "config", config)
    providers = yaml.safe_load(COMPOSE["configs"]["dashboards"]["content"])["providers"]
    assert providers[0]["options"]["path"] == "/kit"
    assert yaml.safe_load(COMPOSE["configs"]["datasource"]["content"])["datasources"][0]["isDefault"]


NAGIOS = (EXAMPLES / "nagios/kgroups.cfg").read_text(encoding="utf-8")
RULES = '[[rule]]\ngroups = ["orders"]\nmax-lag = {warning = 5, critical = 50}\n'


@pytest.mark.parametrize(
    ("name", "arguments", "code", "says"),
    [
        ("check_kgroups_lag", ("orders", "1000,10000"), 0, "KGROUPS OK"),
        ("check_kgroups_lag", ("orders", "5,50"), 1, "lag 10 is above 5"),
        ("check_kgroups_lag", ("; touch made", "5"), 2, "; touch made"),
        ("check_kgroups_rules", ("rules.toml",), 1, "lag 10 is above 5"),
    ],
)
def test_nagios_command_checks(
    name: str, arguments: tuple[str, ...], code: int, says: str, bootstrap: str, tmp_path: Path
) -> None:
    (line,) = re.findall(rf"command_name +{name}\n +command_line +(.+)", NAGIOS)
    (tmp_path / "rules.toml").write_text(RULES)
    host, _, port = bootstrap.partition(":")
    values = {"$HOSTADDRESS$": host, ":9092": f":{port}", "/usr/local/bin/kgroups": str(KGROUPS)}
    for macro, value in {**values, **{f"$ARG{at}$": value for at, value in enumerate(arguments, 1)}}.items():
        line = line.replace(macro, value)
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code and says in done.stdout, done.stdout + done.stderr
    assert not (tmp_path / "made").exists()


def icinga_command(service: str, **variables: str) -> list[str]:
    """Return the command line of a service, as Icinga makes it from the CheckCommand and the variables."""
    text = (EXAMPLES / "icinga2/kgroups.conf").read_text(encoding="utf-8")
    (block,) = re.findall(rf'object Service "{service}" \{{\n(.*?)\n\}}', text, re.DOTALL)
    given: dict[str, Any] = {name: json.loads(value) for name, value in re.findall(r"vars\.(\w+) = (.+)", block)}
    given |= {"kgroups_timeout": "30s", **variables}
    words = [str(KGROUPS), "check"]
    for option, name in re.findall(r'^    "(--[a-z-]+)" = "\$(\w+)\$"$', text, re.MULTILINE):
        words += [option, str(given[name])] if name in given else []
    return [*words, *given.get("kgroups_groups", [])]


def test_icinga_services_check(bootstrap: str, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    lag = icinga_command("lag of orders", kgroups_bootstrap_server=bootstrap)
    done = subprocess.run(lag, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "orders-*" in done.stdout, done.stdout + done.stderr  # no group matches this glob
    done = subprocess.run(lag[:-1], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "KGROUPS OK" in done.stdout, done.stdout + done.stderr
    by_rules = icinga_command("rules of groups", kgroups_bootstrap_server=bootstrap, kgroups_rules=str(rules))
    done = subprocess.run(by_rules, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "lag 10 is above 5" in done.stdout, done.stdout + done.stderr


def test_pre_commit_hook_finds_an_invalid_rule(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    good, bad = tmp_path / "kgroups-rules.toml", tmp_path / "kgroups-rules-bad.toml"
    good.write_text(RULES)
    bad.write_text(RULES.replace("max-lag", "max-lags"))
    program, *words = shlex.split(hook["entry"])
    offline(BIN / program, *words, good)
    done = subprocess.run([BIN / program, *words, good, bad], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3 and f"{bad}, line 3: unknown key 'max-lags'" in done.stdout, done.stdout


def program_or_skip(*names: str) -> str:
    """Return a program that only ``make release-check`` needs."""
    folders = f"{ROOT / 'build/tools'}:/usr/sbin"
    found = next(filter(None, (shutil.which(name) or shutil.which(name, path=folders) for name in names)), None)
    if found is None:
        pytest.skip(f"{names[0]} is not installed")
    return found


@pytest.mark.soak
def test_icinga_accepts_its_example(tmp_path: Path) -> None:
    main = tmp_path / "icinga2.conf"
    main.write_text(f'include <itl>\ninclude "{EXAMPLES / "icinga2/kgroups.conf"}"\n')
    user = {"ICINGA2_USER": getpass.getuser(), "ICINGA2_GROUP": grp.getgrgid(os.getgid()).gr_name}
    offline(program_or_skip("icinga2"), "daemon", "--validate", "--config", main, **user)


@pytest.mark.soak
def test_nagios_accepts_its_example(tmp_path: Path) -> None:
    main, contact = tmp_path / "nagios.cfg", tmp_path / "contact.cfg"
    contact.write_text(  # Nagios requires one
        "define command {\n command_name none\n command_line true\n}\ndefine contact {\n contact_name admin\n"
        " host_notification_commands none\n service_notification_commands none\n}\n"
    )
    main.write_text(
        f"cfg_file={contact}\ncfg_file={EXAMPLES / 'nagios/kgroups.cfg'}\n"
        f"log_file={tmp_path}/log\ncheck_result_path={tmp_path}\n"
        f"object_cache_file={tmp_path}/cache\nstatus_file={tmp_path}/status\nlock_file={tmp_path}/lock\n"
        f"temp_file={tmp_path}/temp\ntemp_path={tmp_path}\nstate_retention_file={tmp_path}/state\n"
        f"command_file={tmp_path}/command\n"
        f"nagios_user={getpass.getuser()}\nnagios_group={grp.getgrgid(os.getgid()).gr_name}\n"
        "illegal_macro_output_chars=`~$&|'\"<>\n"
    )
    shown = offline(program_or_skip("nagios4", "nagios"), "-v", main)
    assert "Total Errors:   0" in shown, shown


KUBERNETES = "1.33"
CHART_VALUES = {
    "exporter alone": ("--set", "exporter.args={--commit-age,--by=topic}"),
    "with a secret": ("--set", "kafka.clientSecret=client,exporter.serviceMonitor.enabled=true"),
    "collector on a volume": ("--set", "collector.enabled=true,exporter.enabled=false,image.tag=v1"),
    "collector in S3": (
        *("--set", "collector.enabled=true,collector.store=s3://bucket/kgroups,collector.environmentSecret=s3"),
        *("--set", "collector.environment.AWS_REGION=eu-central-1,kafka.clientSecret=client,nodeSelector.disk=fast"),
    ),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", CHART_VALUES)
def test_chart_renders_valid_manifests(name: str) -> None:
    helm = program_or_skip("helm")
    values = ("--set", "kafka.bootstrapServers=kafka:9092", *CHART_VALUES[name])
    offline(helm, "lint", "--strict", CHART, *values)
    rendered = list(
        yaml.safe_load_all(offline(helm, "template", "--kube-version", KUBERNETES, "kgroups", CHART, *values))
    )
    assert rendered
    check_pods(rendered)
    check_commands(rendered)
    for manifest in rendered:
        if manifest["apiVersion"] != "monitoring.coreos.com/v1":
            validate_kubernetes(manifest)


@pytest.mark.soak
def test_chart_without_bootstrap_servers_is_rejected() -> None:
    error = offline(program_or_skip("helm"), "template", "--kube-version", KUBERNETES, "kgroups", CHART, code=1)
    assert "set kafka.bootstrapServers to HOST:PORT of the brokers" in error


@pytest.mark.soak
@pytest.mark.parametrize("path", sorted((EXAMPLES / "kubernetes").iterdir()), ids=lambda path: path.name)
def test_manifests_match_the_schemas_of_kubernetes(path: Path) -> None:
    for manifest in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        validate_kubernetes(manifest)


def validate_kubernetes(manifest: dict[str, Any]) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    validator.validate(manifest, KUBERNETES, strict=True)


def check_commands(manifests: list[dict[str, Any]]) -> None:
    from kgroups.cli.main import cli
    from tests.unit.test_documentation import parse
    from tests.unit.test_examples import containers_of, pods

    containers = [each for pod in pods(manifests) for each in containers_of(pod)]
    assert containers
    for container in containers:
        program, *words = container["command"]
        variables = {each["name"]: each["value"] for each in container["env"]}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            assert program == "kgroups"
            parse(cli, words)


@pytest.mark.soak
def test_stage_of_the_collector_installs_history(image: Path) -> None:
    """From the index: Spark and DuckDB are not among the wheels of a release."""
    for instruction, value in stage("build-collector"):
        if instruction == "RUN":
            script = value.replace("/opt/", f"{image}/opt/").replace("/wheels/", f"{image}/wheels/")
            subprocess.run(["sh", "-ec", script.replace("python -m", f"{sys.executable} -m")], check=True, timeout=1200)
    shown = offline(image / "opt/kgroups/bin/kgroups", "history", "show", "commits", "--store", image / "none", code=1)
    assert "holds no history" in shown


@pytest.mark.soak
def test_pre_commit_runs_the_hook(tmp_path: Path) -> None:
    """pre-commit makes an environment of the last commit, from the index."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    pip = (environment / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, "pre-commit"], check=True, timeout=600)
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", repository], check=True, timeout=60)
    (repository / "kgroups-rules.toml").write_text(RULES.replace("max-lag", "max-lags"))
    subprocess.run(["git", "-C", repository, "add", "."], check=True, timeout=60)
    command = [environment / "bin/pre-commit", "try-repo", ROOT, "kgroups-rules", "--all-files"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 1 and "max-lags" in done.stdout, done.stdout + done.stderr
