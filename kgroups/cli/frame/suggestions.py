"""What to type instead of a command, option, or value that does not exist; loaded only after such an error."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import click

from kgroups.model.shell import shell

from .lazy_command import LazyCommand

_ALIKE = 0.75
"""The similarity from which an option is a typing error of another: --json is 0.67 from --sort."""
_ALIKE_COMMANDS = 0.6
"""The same of commands, which are shorter: lgg is 0.67 from lag."""

_GUESSES: Mapping[str, str] = {
    # Commands of other tools.
    "backup": "kgroups snapshot save FILE {words}",
    "backup show": "kgroups snapshot show {words:FILE}",
    "cluster": "kgroups config check",
    "config describe": "kgroups settings show {words:GROUP}",
    "config get": "kgroups settings show {words:GROUP}",
    "config list": "kgroups profile list",
    "config set": "kgroups settings set {words:KEY=VALUE}",
    "consumers": "kgroups list",
    "copy-offsets": "kgroups reset-offsets {1:TARGET} --to-group {0:SOURCE} --create-group",
    "get": "kgroups describe {words}",
    "get groups": "kgroups list",
    "group": "kgroups describe {words}",
    "groups": "kgroups list",
    "help": "kgroups {words} --help",
    "history record": "kgroups history collect --store DIRECTORY",
    "history --since": "kgroups history lag --store DIRECTORY --group {words:GROUP} --since {--since}",
    "ls": "kgroups list",
    "metrics": "kgroups exporter",
    "monitor": "kgroups watch {words}",
    "report": "kgroups history report --store DIRECTORY",
    "reset": "kgroups reset-offsets {words}",
    "reset-streams": "kgroups reset-offsets {words:GROUP} --all-topics --to-earliest --delete-all-internal-topics",
    "restore": "kgroups snapshot restore {words:FILE}",
    "rm": "kgroups delete {words}",
    "seek": "kgroups reset-offsets {words}",
    "show": "kgroups describe {words}, or of a file kgroups snapshot show {words:FILE}",
    "streams-reset": "kgroups reset-offsets {words:GROUP} --all-topics --to-earliest --delete-all-internal-topics",
    "top": "kgroups watch {words}",
    "version": "kgroups --version",
    "wait": "kgroups check {rest} --wait 10m",
    # Options of other tools.
    "* --all": "--all-groups",
    "* --broker-list": "--bootstrap-server",
    "* --brokers": "--bootstrap-server",
    "* --cluster": "--profile",
    "* --config": "--command-config",
    "* --consumer-group": "--group",
    "* --csv": "--output csv",
    "* --eta": "kgroups watch {words}",
    "* --expiring": "kgroups describe --all-groups --deep --columns group,topic,partition,expires_at",
    "* --format": "--output",
    "* --idle": "kgroups history stale --store DIRECTORY",
    "* --inactive": "kgroups history stale --store DIRECTORY",
    "* --json": "--output json",
    "* --pattern": "--regex",
    "* --problems": "kgroups check --all-groups",
    "* --properties": "--command-config",
    "* --property": "-X",
    "* --rate": "kgroups watch {words}",
    "* --sasl-mechanism": "-X security.protocol=SASL_SSL -X sasl.mechanism={--sasl-mechanism} "
    "-X sasl.username={--user} -X sasl.password=@FILE",
    "* --servers": "--bootstrap-server",
    "* --unassigned": "kgroups explain {words:GROUP}",
    "* --unused": "kgroups history stale --store DIRECTORY",
    "* --watch": "kgroups watch {words}",
    "* --yaml": "--output json",
    "check --config": "--rules {--config}",
    "check --file": "--rules {--file}",
    "check --retention": "--min-headroom 1h",
    "delete --host": "kgroups list --host {--host}",
    "exporter --alert-rules": "--alerts",
    "exporter --once": "kgroups check --all-groups -o openmetrics",
    "exporter --port": "--listen :{--port}",
    "lag --by-partition": "--by partition",
    "lag --data-loss": "--headroom",
    "lag --partitions": "--by partition",
    "list --kind": "--type {--kind}",
    "list --kind connect": "kgroups list 'connect-*'",
    "remove-members --all": "--all-members",
    "remove-members --host": "kgroups list --host {--host}",
    "remove-members --instance-id": "--instance {--instance-id}",
    "reset-offsets --host": "kgroups list --host {--host}",
    "reset-offsets --out-of-range": "--to-current",
    "reset-offsets --skip": "--skip-records {--skip}",
    "undo --list": "ls kgroups-undo-*",
    "watch --json": "kgroups watch {words} | cat",
    "watch --output": "kgroups watch {words} | cat",
    "watch -o": "kgroups watch {words} | cat",
    # Values of other tools.
    "* --output wide": "--wide",
    "* --output yaml": "--output json",
    "* -o wide": "--wide",
    "* -o yaml": "-o json",
    "check --output nagios": "--output text, which is the default",
    "check -o nagios": "-o text, which is the default",
    "describe --members --sort lag": "kgroups lag {words:GROUP} --by member",
    "lag --sort lag": "--sort=-total_lag",
    "list --by state": "--by cluster",
    "list --type connect": "kgroups list 'connect-*'",
}
"""What people type -> what to type: the words of a command (``*``: of any), and options, each with its value or not.

The longest one that a command line has applies. ``{words}``: the words after the command, or what follows the colon;
``{rest}``: all arguments after the command; ``{0}``: one of the words; ``{--option}``: the value of an option. An
option is suggested only if the command has it.
"""


class _Line(NamedTuple):
    """A command line that failed: ``words`` up to the first option, of which ``path`` name the command."""

    words: Sequence[str]
    path: int
    options: Mapping[str, str]
    """Each option with its value; a word after an option is taken as its value."""
    arguments: Sequence[str]

    def has(self, typed: str) -> bool:
        """Return whether the line has what a guess consists of."""
        head, options = _parse(typed)
        if head != ["*"] and list(self.words[: len(head)]) != head:
            return False
        return all(name in self.options and value in ("", self.options[name]) for name, value in options.items())

    def filled(self, typed: str, use: str) -> str:
        """Return what to type, with the words of the line."""
        head, _ = _parse(typed)
        at = self.path if head == ["*"] else len(head)
        words, rest = self.words[at:], self.arguments[at:]

        def value(match: re.Match[str]) -> str:
            name, default = match[1], match[2] or ""
            if name.isdecimal():
                return shell(words[int(name)]) if len(words) > int(name) else default
            if name.startswith("-"):
                return shell(self.options[name]) if self.options.get(name) else default or "VALUE"
            return " ".join(map(shell, rest if name == "rest" else words)) or default

        return re.sub(r" {2,}", " ", re.sub(r"\{([\w-]+)(?::([^}]*))?\}", value, use)).strip()


def _parse(typed: str) -> tuple[list[str], dict[str, str]]:
    """Return the words of the command of a guess, and its options with their values."""
    tokens = typed.split()
    head = tokens[: next((at for at, token in enumerate(tokens) if token.startswith("-")), len(tokens))]
    return head, _options(tokens[len(head) :])


def _options(arguments: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for at, word in enumerate(arguments):
        if word.startswith("-") and len(word) > 1:
            name, equals, value = word.partition("=")
            following = arguments[at + 1] if at + 1 < len(arguments) else ""
            found[name] = value if equals else "" if following.startswith("-") else following
    return found


def _line(root: click.Group, arguments: Sequence[str], unknown: str = "") -> _Line:
    """Return a command line without the options before the command.

    :param unknown: a command that does not exist.
    """
    start = next((at for at, word in enumerate(arguments) if word in root.commands or word == unknown), 0)
    arguments = [*arguments[start:], *arguments[:start]]
    words = arguments[: next((at for at, word in enumerate(arguments) if word.startswith("-")), len(arguments))]
    return _Line(words, _path_length(root, words), _options(arguments), arguments)


def _path_length(root: click.Group, words: Iterable[str]) -> int:
    """Return the number of words that name an existing command."""
    command, length = root, 0
    for name in words:
        found = command.commands.get(name)
        if found is None:
            return length
        length += 1
        found = found.load() if isinstance(found, LazyCommand) else found
        if not isinstance(found, click.Group):
            return length
        command = found
    return length


def _suggested(line: _Line, known: Container[str] | None, needed: str = "", *, values_only: bool = False) -> str:
    """Return what to type instead; the empty text if that is unknown.

    :param known: the options of the command; ``None``: those of the line.
    :param needed: the option that does not exist.
    :param values_only: the command and its options exist.
    """
    best = ""
    for typed, use in _GUESSES.items():
        _, options = _parse(typed)
        if needed and needed not in options:
            continue
        if values_only and not any(options.values()):
            continue
        option = use.split()[0].partition("=")[0]
        if known is not None and option.startswith("-") and option not in known:
            continue
        if line.has(typed) and (len(typed.split()), typed[0] != "*") > (len(best.split()), best[:1] != "*"):
            best = typed
    return line.filled(best, _GUESSES[best]) if best else ""


def hint_of(root: click.Group, arguments: Sequence[str]) -> str | None:
    """Return what to type instead of a value that a command rejected."""
    use = _suggested(_line(root, arguments), None, values_only=True)
    return f"use {use}" if use else None


def with_suggestion(error: click.ClickException, root: click.Group, arguments: Sequence[str]) -> str:
    """Return the message of an error, with what to type instead if that is known."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    known = [name for param in context.command.get_params(context) for name in param.opts] if context else []
    if isinstance(error, click.NoSuchOption) and context:
        name = error.option_name
        commands = context.command.commands if isinstance(context.command, click.Group) else {}
        if name.removeprefix("--") in commands:  # as in Kafka's tools
            return f"{_sentence(error.message)}; use {context.command_path} {name.removeprefix('--')}"
        if use := _suggested(_line(root, arguments), known, name):
            return f"{_sentence(error.message)}; use {use}"
        return _with_alike(error.message, name, [] if any(name in _parse(typed)[1] for typed in _GUESSES) else known)
    if isinstance(error, click.exceptions.NoSuchCommand) and context and isinstance(context.command, click.Group):
        name = error.command_name
        if use := _suggested(_line(root, arguments, name), known):
            return f"{_sentence(error.message)}; use {use}"
        names = context.command.commands
        longer = [each for each in names if each.startswith(name)]
        return _with_alike(error.message, name, names, longer, _ALIKE_COMMANDS)
    message = _sentence(error.format_message())
    use = _suggested(_line(root, arguments), known, values_only=True)
    return f"{message}; use {use}" if use else message


def _with_alike(
    message: str, name: str, known: Iterable[str], longer: Iterable[str] = (), alike: float = _ALIKE
) -> str:
    found = [*longer] or get_close_matches(name, sorted(known), cutoff=alike)
    return f"{_sentence(message)} (did you mean {' or '.join(found)}?)" if found else _sentence(message)


def _sentence(message: str) -> str:
    return message.rstrip(".")


def command_path(root: click.Group, arguments: Iterable[str], error: click.ClickException) -> str:
    """Return the command that an error is about: errors of subcommands may name only their group, or none."""
    words = list(arguments)
    path = " ".join(["kgroups", *words[: _path_length(root, words)]])
    named = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
    return max(path, named, key=len)
