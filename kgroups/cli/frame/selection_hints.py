"""Say why a selection is empty: topics that do not exist, patterns that match nothing, and names with typing errors."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from kgroups.admin.client import Client
from kgroups.admin.query.pattern import Pattern, compile_pattern
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.topic_failures import topic_failures
from kgroups.errors import KgroupsError, UsageError
from kgroups.model.counts import some
from kgroups.model.groups import GroupState, canonical_word, is_glob
from kgroups.model.outcome import NO_MATCH, NOT_FOUND, Failure, NoMatch, Outcome, Scope
from kgroups.model.shell import group_words_in_text, shell

_PATIENCE = 2.0
"""Seconds to wait for the list of groups, from which hints are made."""
_ALIKE = 0.75
_MOST_NAMES = 20_000
"""Names that are compared; more would take seconds."""
_MOST_HINTS = 3
_UNKNOWN_TOPIC = "UNKNOWN_TOPIC_OR_PARTITION"


async def with_hints(admin: Client, outcome: Outcome[Any], selection: Selection | None = None) -> Outcome[Any]:
    """Return the outcome with what is wrong with the selection.

    A named topic that does not exist is a failure, as is a named group. That nothing matches is a notice.
    """
    if selection:
        outcome = outcome._replace(failures=_with_topic_hints(outcome.failures, outcome.items))
        if selection.topics:
            outcome = outcome.with_failures(await topic_failures(admin, selection, outcome))
    missing = [failure for failure in outcome.failures if failure.error == NOT_FOUND and failure.hint is None]
    unmatched = any(isinstance(notice, NoMatch) for notice in outcome.notices)
    if len(missing) == len(outcome.failures) and (missing or (unmatched and selection and selection.pattern)):
        names = await _listed(admin)
        globs = [glob.text for glob in selection.globs] if selection else []
        hints = {
            failure: _glob_hint(failure.name, names) if failure.name in globs else _hint(failure.name, names)
            for failure in missing[:_MOST_HINTS]
        }
        failures = tuple(each._replace(hint=hints[each]) if each in hints else each for each in outcome.failures)
        outcome = outcome._replace(failures=failures)
    else:
        names = ()
    if unmatched and selection:
        unmatched_regex = [notice for notice in outcome.notices if isinstance(notice, NoMatch) and notice != NO_MATCH]
        others = [notice for notice in outcome.notices if not isinstance(notice, NoMatch)]
        kept = unmatched_regex if outcome.failures else ()
        empty = selection._replace(topics=frozenset()) if unmatched_regex else selection
        outcome = outcome._replace(notices=(*others, *kept, *_why_empty(empty, outcome.failures, names)))
    return outcome


def _with_topic_hints(failures: Iterable[Failure], rows: Iterable[Any]) -> tuple[Failure, ...]:
    """Return failures with the command that shows, or that deletes, the offsets committed on deleted topics."""
    failures = tuple(failures)
    gone = {each.name for each in failures if each.scope is Scope.TOPIC and each.error == _UNKNOWN_TOPIC}
    if not gone:
        return failures
    by_group: dict[str, set[str]] = {}
    without_commit: set[str] = set()
    for row in rows:
        if (topic := getattr(row, "topic", None)) in gone:
            if all(getattr(row, field, None) is None for field in ("current_offset", "start_offset")):
                without_commit.add(row.group)
            else:
                by_group.setdefault(row.group, set()).add(topic)
    if without_commit and not by_group:
        commands = [f"kgroups describe {group_words_in_text(name)} --members" for name in sorted(without_commit)]
        hint = f"to see the members that subscribe to deleted topics: {some(commands)}"
    elif by_group:
        commands = [f"delete-offsets {group_words_in_text(name)}{_topics(by_group[name])}" for name in sorted(by_group)]
        hint = f"to delete the offsets on deleted topics: {some([f'kgroups {each}' for each in commands])}"
    else:
        hint = f"to see the groups with offsets on deleted topics: kgroups describe{_topics(gone)}"
    return tuple(each._replace(hint=each.hint or hint) if each.name in gone else each for each in failures)


def _topics(names: Collection[str]) -> str:
    return "".join(f" --topic {shell(name)}" for name in sorted(names)[:_MOST_HINTS])


async def _listed(admin: Client) -> Sequence[str]:
    """Return the groups of the cluster; none if it does not list them at once."""
    try:
        async with asyncio.timeout(_PATIENCE):
            listed = await admin.list_selected(Selection())
    except (KgroupsError, TimeoutError):
        return ()
    return [group.group for group in listed.items]


def _hint(name: str, names: Sequence[str]) -> str | None:
    if state := canonical_word(name, GroupState.ALL):
        return f"to select groups by their state, use --state {state}, or --in-state {state} of describe and check"
    if is_glob(name):
        return f"the names of --group are literal; to select groups by a glob, use the argument '{name}'"
    return similar_names(name, names)


def similar_names(name: str, names: Sequence[str]) -> str | None:
    """Return a hint with the names that are most similar to one that does not exist."""
    close = [each for each in names if abs(len(each) - len(name)) <= 3][:_MOST_NAMES]
    found = get_close_matches(name, close, cutoff=_ALIKE)
    return f"did you mean {' or '.join(_quoted(each) for each in found)}?" if found else None


def _quoted(name: str) -> str:
    """Quote a name as in Python, or for a shell if it has characters that are shown escaped."""
    return repr(name) if name.isprintable() and "\\" not in name else shell(name)


def _glob_hint(glob: str, names: Sequence[str]) -> str | None:
    """Suggest names whose start or end is similar to the characters of a glob."""
    text = re.sub(r"\[.*?\]|[*?]", "", glob)
    if not text:
        return None
    named: dict[str, list[str]] = {}
    for name in names[:_MOST_NAMES]:
        for part in {name[: len(text)].casefold(), name[-len(text) :].casefold()}:
            named.setdefault(part, []).append(name)
    parts = get_close_matches(text.casefold(), named, cutoff=_ALIKE)
    found = dict.fromkeys(name for part in parts for name in named[part])
    return f"similar names: {some(list(map(_quoted, found)))}" if found else None


def _why_empty(selection: Selection, failures: Iterable[Failure], names: Collection[str]) -> list[str]:
    """Return the notice of an outcome without groups; none if failures say why."""
    if any(failures):
        return []

    if selection.topics:
        some_topics = some(sorted(selection.topics))
        return [NoMatch(f"no selected group has committed offsets or assignments on {some_topics}")]
    if not isinstance(selection.pattern, Pattern):
        globs = "".join(f" {glob.text!r}" for glob in selection.globs)
        return [NoMatch(f"{NO_MATCH}{globs}{_restriction(selection)}")]
    text = selection.pattern.text
    instead = next((each for each in (_regex_of(text), f"{text}.*", f".*{text}.*") if _matches(each, names)), None)
    if _matches(text, names):
        return [NoMatch(f"{NO_MATCH} --regex {text!r}{_restriction(selection)}")]
    notice = f"{NO_MATCH} --regex {text!r}: the whole name must match"
    return [NoMatch(f"{notice}; try --regex {instead!r}" if instead else notice)]


def _restriction(selection: Selection) -> str:
    """Return what restricts a selection, for a message."""
    among, members = selection.among, selection.members
    restrictions = {
        "the state": among.states,
        "the type": among.types,
        "the coordinator": [glob.text for glob in among.coordinators],
        "a member on the host": [glob.text for glob in members.hosts] if members else (),
        "a member of the client ID": [glob.text for glob in members.client_ids] if members else (),
    }
    texts = [f"{name} {' or '.join(values)}" for name, values in restrictions.items() if values]
    by_name = members and any(re.search("[A-Za-z]", glob.text) and ":" not in glob.text for glob in members.hosts)
    hint = "; brokers report the addresses of hosts, not their names" if by_name else ""
    return f" with {' and '.join(texts)}{hint}" if texts else ""


def _matches(text: str, names: Iterable[str]) -> bool:
    try:
        pattern = compile_pattern(text, "--regex")
    except UsageError:
        return False
    return any(map(pattern.fullmatch, names))


def _regex_of(glob: str) -> str:
    """Return the regular expression of a glob."""
    return re.sub(r"(?<![.\])])\*", ".*", glob).replace("?", ".")
