"""The names of copied topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgroups.errors import UsageError

OPTION = "--topic-map"


class Rule(NamedTuple):
    """How topics are renamed: a name, or a pattern with one ``*`` in both names."""

    source: str
    target: str

    def rename(self, topic: str) -> str | None:
        """Return the name of the copy; ``None`` if the rule is not for this topic."""
        before, star, after = self.source.partition("*")
        if not star:
            return self.target if topic == self.source else None
        if len(topic) < len(before) + len(after) or not (topic.startswith(before) and topic.endswith(after)):
            return None
        return self.target.replace("*", topic[len(before) : len(topic) - len(after)])


TopicMap = Sequence[Rule]
"""Rules in order of precedence: names before patterns. A topic without a rule keeps its name."""


def parse_topic_map(values: Iterable[str]) -> TopicMap:
    """Return the rules of ``SOURCE=TARGET``, such as ``orders=west.orders`` or ``*=west.*``.

    :raises UsageError: for a value that is not a rule, and for a topic that has two.
    """
    rules: dict[str, Rule] = {}
    for value in values:
        source, equals, target = value.partition("=")
        stars = source.count("*"), target.count("*")
        if not (source and equals and target) or stars not in ((0, 0), (1, 1)):
            raise UsageError(f"{OPTION}: {value!r} is not SOURCE=TARGET, or has a * in only one of the names")
        if rules.get(source, target) not in (target, Rule(source, target)):
            raise UsageError(f"{OPTION}: {source!r} is mapped to {rules[source].target!r} and to {target!r}")
        rules[source] = Rule(source, target)
    return sorted(rules.values(), key=lambda rule: "*" in rule.source)


def renamed(topic: str, rules: TopicMap) -> str | None:
    """Return the name of a topic's copy by the first rule that is for it, or ``None``."""
    return next((name for rule in rules if (name := rule.rename(topic)) is not None), None)


def check_distinct(names: Iterable[tuple[str, str]]) -> None:
    """Check that no two topics have the same copy.

    :raises UsageError: if they do.
    """
    sources: dict[str, str] = {}
    for source, target in names:
        other = sources.setdefault(target, source)
        if other != source:
            raise UsageError(f"{OPTION}: topics {other!r} and {source!r} would both be {target!r}")
