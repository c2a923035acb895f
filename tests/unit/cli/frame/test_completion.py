"""Shell completion."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from kgroups.cli.frame.completion import TIMEOUT, completions_of
from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import COMPLETE, cli, main
from tests.fakes.broker import FakeCluster, silence


def shop(fake: FakeCluster) -> None:
    for name in ("orders", "orders-2", "other", "odd $(reboot)", "o;ls", "o\x1b[31m", "-o"):
        fake.state.group(name, 0)
    for name in ("orders", "odd;", "o-2", "__consumer_offsets"):
        fake.state.topic(name, [0])


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[[str], list[str]]:
    monkeypatch.setattr("kgroups.cli.frame.completion.TIMEOUT", 60.0)  # a busy machine's; a shell's is less

    def press(line: str) -> list[str]:
        monkeypatch.setenv(COMPLETE, line)
        assert main([]) in (0, 1)
        out, err = capfd.readouterr()
        assert err == ""
        return [item.split("\t")[1] for item in out.splitlines()]

    return press


def test_completion_offers_commands_and_options(complete: Callable[[str], list[str]]) -> None:
    assert complete("kgroups desc") == ["describe"]
    assert "--all-groups" in complete("kgroups describe --all")
    assert complete("kgroups history col") == ["collect"]


def test_completion_offers_group_names(
    complete: Callable[[str], list[str]], serve: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(fill=shop)
    where = f"-b {served.bootstrap}"
    assert complete(f"kgroups describe {where} o") == ["orders", "orders-2", "other"]
    assert complete(f"kgroups lag {where} orders ord") == ["orders-2"]
    monkeypatch.setenv("SERVERS", served.bootstrap)
    assert complete("kgroups lag -b $SERVERS orders ord") == ["orders-2"]
    assert complete(f"kgroups describe {where} --group ot") == ["other"]


@pytest.mark.parametrize("option", ["-b ", "--bootstrap-server ", "--bootstrap-server=", "-X bootstrap.servers="])
def test_completion_reads_connection_options_before_the_command(
    complete: Callable[[str], list[str]], serve: Callable, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setenv("KGROUPS_BOOTSTRAP_SERVER", "" if option.startswith("-X") else "127.0.0.1:1")
    before = f"kgroups -q {option}{serve(fill=shop).bootstrap}"
    assert complete(f"{before} describe ") == ["orders", "orders-2", "other"]
    assert complete(f"{before} lag orders --topic o") == ["o-2", "orders"]


@pytest.mark.parametrize("command", ["describe", "lag", "check", "watch", "delete-offsets", "reset-offsets"])
def test_completion_offers_topic_names(complete: Callable[[str], list[str]], serve: Callable, command: str) -> None:
    served = serve(fill=shop)
    assert complete(f"kgroups {command} -b {served.bootstrap} --topic o") == ["o-2", "orders"]
    assert complete(f"kgroups {command} -b {served.bootstrap} --topic __c") == ["__consumer_offsets"]


def test_completion_offers_groups_for_to_group(complete: Callable[[str], list[str]], serve: Callable) -> None:
    served = serve(fill=shop)
    assert complete(f"kgroups reset-offsets -b {served.bootstrap} orders --to-group o") == [
        "orders",
        "orders-2",
        "other",
    ]


def test_completion_offers_profiles(
    complete: Callable[[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[profiles.prod]\nbootstrap = "a:1"\n[profiles.probe]\nbootstrap = "b:1"\n')
    file.chmod(0o600)
    monkeypatch.setenv("KGROUPS_CONFIG", str(file))
    for words in ("profile use", "profile show", "list --profile"):
        assert complete(f"kgroups {words} pr") == ["probe", "prod"]


def parameters(command: click.Command, path: str = "kgroups") -> Iterator[tuple[str, click.Parameter]]:
    command = command.load() if isinstance(command, LazyCommand) else command
    for name, inner in sorted(command.commands.items()) if isinstance(command, click.Group) else ():
        yield from parameters(inner, f"{path} {name}")
    yield from ((f"{path} {parameter.opts[-1]}", parameter) for parameter in command.params)


def test_completion_covers_every_group_topic_and_profile_parameter() -> None:
    named = {
        where: parameter
        for where, parameter in parameters(cli)
        if re.search(r" --(to-)?group$| --(.*-)?topic$| --profile$| names$|profile \w+ name$", where)
    }
    assert len(named) > 40
    assert [where for where, parameter in named.items() if parameter._custom_shell_complete is None] == []


def test_completion_without_cluster_offers_nothing_silently(complete: Callable[[str], list[str]]) -> None:
    assert complete("kgroups describe -b 127.0.0.1:1 o") == []
    assert complete("kgroups describe -b 127.0.0.1:1 --topic o") == []
    assert complete("kgroups describe o") == []
    assert complete("kgroups describe -b : o") == []


def test_completion_of_hung_cluster_stops_after_its_timeout(
    complete: Callable[[str], list[str]], serve: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other commands would wait for half a minute."""
    monkeypatch.setattr("kgroups.cli.frame.completion.TIMEOUT", TIMEOUT)  # the other tests are given more
    served = serve(fill=shop)
    served.fake.brokers[0].fault("ListGroups", silence)
    began = time.monotonic()
    assert complete(f"kgroups describe -b {served.bootstrap} o") == []
    assert TIMEOUT < 2
    assert TIMEOUT <= time.monotonic() - began < TIMEOUT + 10


def test_completion_offers_only_names_safe_for_a_shell() -> None:
    assert completions_of(["a", "a b", "a$b", "a`b`", "a\nb", "a'b", "-a", "a*", "a.b-c_1", "a,b"], "a") == [
        "a",
        "a,b",
        "a.b-c_1",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kgroups list -o js", ["json", "jsonl"]),
        ("kgroups list --state st", ["Stable"]),
        ("kgroups list --state=Empty,st", ["--state=Empty,Stable"]),
        ("kgroups list --type classic,s", ["classic,share", "classic,streams", "classic,spark"]),
        ("kgroups list --columns group,co", ["group,coordinator"]),
        ("kgroups describe --members --columns host,assignment_", ["host,assignment_bytes"]),
        ("kgroups describe --columns lag", ["lag"]),
        ("kgroups lag --by partition --sort -topic,la", ["-topic,lag"]),
        ("kgroups lag --sort -kn", ["-known_lag"]),
        ("kgroups lag --by=par", ["--by=partition"]),
        ("kgroups reset-offsets --columns new_", ["new_offset"]),
        ("kgroups profile list --columns com", ["command_config"]),
        ("kgroups config check --columns st", ["step"]),
        ("kgroups history test --columns fai", ["failed"]),
        ("kgroups history show late", ["latest_offsets"]),
        ("kgroups history show latest_offsets --columns grou", ["group"]),
        ("kgroups history schema dec", ["decoded"]),
        ("kgroups sandbox up --version 4.", ["4.3.1", "4.4.0"]),
        ("kgroups completion z", ["zsh"]),
        ("/usr/bin/kafka-consumer-groups --bootstrap-server a:1 --li", ["--list"]),
        ("kafka-consumer-groups --bootstrap-server a:1 --list --state st", ["Stable"]),
        ("kafka-consumer-groups --list --list", []),
        ("kafka-share-groups --to-", ["--to-earliest", "--to-latest", "--to-current", "--to-offset", "--to-datetime"]),
        ("kafka-streams-application-reset --application-id a --to-d", ["--to-datetime"]),
        ("kafka-groups --list --group-type s", ["share", "streams"]),
        ("kafka-topics --list", []),
        ("kgroups", []),
    ],
)
def test_completion_offers_values(complete: Callable[[str], list[str]], line: str, expected: list[str]) -> None:
    assert complete(line) == expected


@pytest.mark.parametrize(
    ("tool", "topic"),
    [("kafka-consumer-groups", "topic"), ("kafka-share-groups", "topic"), ("kafka-streams-groups", "input-topic")],
)
def test_completion_of_the_replacements_offers_groups_and_topics(
    complete: Callable[[str], list[str]], serve: Callable, tool: str, topic: str
) -> None:
    where = f"--bootstrap-server {serve(fill=shop).bootstrap}"
    assert complete(f"{tool} {where} --describe --group ord") == ["orders", "orders-2"]
    assert complete(f"{tool} {where} --describe --group=ord") == ["--group=orders", "--group=orders-2"]
    assert complete(f"{tool} {where} --group orders --reset-offsets --{topic} o") == ["o-2", "orders"]


def test_completion_of_the_application_reset_offers_lists_of_topics(
    complete: Callable[[str], list[str]], serve: Callable
) -> None:
    tool = f"kafka-streams-application-reset --bootstrap-server {serve(fill=shop).bootstrap}"
    assert complete(f"{tool} --application-id ord") == ["orders", "orders-2"]
    assert complete(f"{tool} --input-topics orders,o-") == ["orders,o-2"]


def test_completion_describes_options_and_asks_the_shell_for_files(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(COMPLETE, "kgroups descr")
    main([])
    assert capfd.readouterr().out == "plain\tdescribe\tDescribe groups: offsets and lag, members,...\n"
    for line in ("kgroups list --command-config c", "kafka-consumer-groups --command-config c"):
        monkeypatch.setenv(COMPLETE, line)
        main([])
        assert capfd.readouterr().out == "file\tc\t\n"
