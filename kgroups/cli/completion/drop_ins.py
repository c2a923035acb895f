"""The completions of the replacements of Kafka's tools, whose options click does not know."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise

from click.shell_completion import CompletionItem

from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.settings import ClientSettings
from kgroups.dropins.joptsimple import Option, Takes
from kgroups.model.groups import GroupState, GroupType

from ..frame.completion import TIMEOUT, group_names_of, topic_names_of
from ..frame.known_values import list_words

_OPTIONS = {
    "kafka-consumer-groups": "consumer_groups",
    "kafka-share-groups": "share_groups",
    "kafka-streams-groups": "streams_groups",
    "kafka-groups": "groups",
    "kafka-streams-application-reset": "streams_application_reset",
}
_REPEATABLE = {"group", "topic", "input-topic"}
_FILES = {"command-config", "config-file", "from-file"}


def tool_items(tool: str, arguments: Sequence[str], last: str) -> Iterable[CompletionItem[str]]:
    """Return the completions of the last word of a tool's command line."""
    options: dict[str, Option] = {option.name: option for option in _options_of(tool)}
    dashed, equals, prefix = last.partition("=")
    name = dashed.removeprefix("--")
    if dashed.startswith("--") and equals and name in options:
        return [CompletionItem(f"{dashed}={value}") for value in _values(tool, name, arguments, prefix)]
    previous = arguments[-1].removeprefix("--") if arguments and arguments[-1].startswith("--") else ""
    takes = options[previous].takes if previous in options else Takes.NOTHING
    if takes is not Takes.NOTHING and previous in _FILES:
        return [CompletionItem(last, "file")]
    values = [] if takes is Takes.NOTHING else [*_values(tool, previous, arguments, last)]
    if takes is Takes.VALUE or values:
        return map(CompletionItem, values)
    given = {word.partition("=")[0].removeprefix("--") for word in arguments} - _REPEATABLE
    flags = (f"--{name}" for name in options if name not in given)
    return [CompletionItem(flag) for flag in flags if flag.startswith(last)]


def _options_of(tool: str) -> Iterable[Option]:
    if tool not in _OPTIONS:
        return ()
    found: Iterable[Option] = import_module(f"kgroups.dropins.{_OPTIONS[tool]}").OPTIONS
    return found


def _values(tool: str, option: str, arguments: Sequence[str], prefix: str) -> Iterable[str]:
    def topics() -> Iterable[str]:
        head, comma, last = prefix.rpartition(",")
        return [f"{head}{comma}{name}" for name in topic_names_of(_settings(arguments), last)]

    known: Mapping[str, Callable[[], Iterable[str]]] = {
        "group": lambda: group_names_of(_settings(arguments), prefix),
        "topic": lambda: topic_names_of(_settings(arguments), prefix),
        "input-topic": lambda: topic_names_of(_settings(arguments), prefix),
        "application-id": lambda: group_names_of(_settings(arguments), prefix),
        **dict.fromkeys(("input-topics", "intermediate-topics", "internal-topics"), topics),
        "state": lambda: list_words(GroupState.ALL, prefix),
        "type": lambda: list_words([name.lower() for name in GroupType.OF_CONSUMERS], prefix),
        "group-type": lambda: list_words([name.lower() for name in GroupType.ALL], prefix),
    }
    return known[option]() if option in known else ()


def _settings(arguments: Sequence[str]) -> ClientSettings:
    """Return the settings of an incomplete command line."""
    given = dict(pairwise(arguments))
    given.update((word.partition("=")[0], word.partition("=")[2]) for word in arguments if "=" in word)
    flags = Flags(
        given.get("--bootstrap-server"), given.get("--command-config"), timeout=TIMEOUT, broker_timeout=TIMEOUT
    )
    return load_settings(flags, os.environ, own=False).settings
