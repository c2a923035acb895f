"""What people type who have read only the README: it works, or the message names the command to type.

``guesses.txt`` has tasks in plain words, and under each what three readers of the README typed for it: how many of
them, ``+`` (works), ``?`` (answered by a message with the text after ``=>``), or ``-`` (neither, and why), and the
command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import kgroups.exporter.run
import kgroups.watch.run
from kgroups.cli.frame import suggestions
from kgroups.cli.main import cli, main
from kgroups.config.flags import BOOTSTRAP_ENV
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

FEWEST = 0.85
"""The share of guesses that must work or be answered."""


class Guess(NamedTuple):
    task: int
    readers: int
    verdict: str
    line: str
    answer: str


def guesses() -> Iterator[Guess]:
    task = 0
    for line in Path(__file__).with_name("guesses.txt").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"(\d+)\. .+", line):
            task += 1
            assert int(match[1]) == task
        elif match := re.fullmatch(r"([123]) ([-+?]) (.+?)(?: => (.+))?", line):
            assert bool(match[4]) == (match[2] != "+"), line
            yield Guess(task, int(match[1]), match[2], match[3], match[4] or "")
        else:
            raise AssertionError(line)


GUESSES = tuple(guesses())


def shop(fake: FakeCluster) -> None:
    fake.state.topic("orders", [0, 1, 2, 0])
    fake.state.topic("payments", [0])
    for number, name in enumerate(("billing", "old-reports", "test-a", "tmp-a", "pay-a", "console-consumer-1")):
        fake.state.group(name, number % 3, commits={("orders", at): 100 for at in range(4)} | {("payments", 0): 100})
    fake.state.group("invoices", 0, type="Share", commits={("orders", 0): 7})
    fake.state.group("enrich", 0, type="Streams", commits={("orders", 0): 7})
    web = FakeMember("web-1", {"orders": (0,)}, client_id="checkout-7", host="/10.0.4.17")
    fake.state.group("live", 2, state="Stable", members=(web,), commits={("orders", 0): 10})


@pytest.fixture
def attempt(
    serve: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], tuple[int, str]]:
    """Run a guess as on a terminal, with the files that it names; return the exit code, and stderr."""
    served = serve(3, fill=shop)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kgroups.exporter.run, "exporter", lambda **_: 0)  # without an end
    monkeypatch.setattr(kgroups.watch.run, "watch", lambda **_: 0)
    monkeypatch.setenv(BOOTSTRAP_ENV, served.bootstrap)
    config = tmp_path / "config.toml"
    config.write_text("".join(f'[profiles.{name}]\nbootstrap = "{served.bootstrap}"\n' for name in ("prod", "stage")))
    monkeypatch.setenv("KGROUPS_CONFIG", str(config))
    for name in ("client", "alice", "scram"):
        Path(f"{name}.properties").write_text("client.id=x\n")
    Path("offsets.csv").write_text("orders,0,5\n")
    for name in ("before", "after", "offsets"):
        assert main(["snapshot", "save", f"{name}.json"]) == 0
    reset = "reset-offsets pay-a --all-topics --to-latest --execute --yes --undo-file"
    assert main([*reset.split(), "billing-undo.json"]) == 0
    assert main([*reset.split(), "kgroups-undo-pay-a.json"]) == 0

    def run(line: str) -> tuple[int, str]:
        capfd.readouterr()
        line = line.replace("kafka-2:9092", f"127.0.0.1:{served.fake.brokers[2].port}")
        line = re.sub(r"(localhost|kafka-1|broker):909\d", served.bootstrap, line)
        words = shlex.split(re.split(r" [|>] |\)$", line)[0].partition("kgroups ")[2])
        code = main([*words, "--yes"] if "--execute" in words and "--yes" not in words else words)
        return code, capfd.readouterr().err

    return run


def test_guesses_work_or_are_answered(attempt: Callable[[str], tuple[int, str]]) -> None:
    wrong = []
    for each in GUESSES:
        if each.line.startswith("export "):
            assert BOOTSTRAP_ENV in each.line
            continue
        code, err = attempt(each.line)
        works = "error:" not in err and (code == 0 or each.line.split()[1] in ("check", "diff"))
        found = "?" if each.answer and each.answer in err else "+" if works else "-"
        if found != each.verdict and not (each.verdict == "-" and works):
            wrong.append(f"{each}: {code}: {err}")
    assert not wrong, "\n".join(wrong)


def test_most_guesses_work_or_are_answered() -> None:
    assert {each.task for each in GUESSES} == set(range(1, 121))
    assert all(sum(one.readers for one in GUESSES if one.task == task) == 3 for task in range(1, 121))
    good = sum(each.readers for each in GUESSES if each.verdict in "+?")
    assert good / sum(each.readers for each in GUESSES) >= FEWEST


@pytest.mark.parametrize("typed", sorted(suggestions._GUESSES))
def test_suggestions_are_valid_command_lines(typed: str) -> None:
    use = suggestions._GUESSES[typed]
    if not use.startswith("kgroups "):
        return
    words = shlex.split(re.sub(r"\{[\w-]+(?::([^}]*))?\}", lambda match: match[1] or "", use))
    words = words[1 : words.index("|") if "|" in words else len(words)]
    words = [word for word in words[: words.index("or") if "or" in words else len(words)] if word != "FILE,"]
    if "--help" in words or "--version" in words:
        return
    with cli.make_context("kgroups", words) as context:
        command = context.command
        while isinstance(command, type(cli)) or hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
            command = command.load() if hasattr(command, "load") else command
        known = {name for param in command.params for name in param.opts}
        assert not [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]
