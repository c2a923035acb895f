"""Write the verdicts of ``kgroups explain --migration``: text, or JSON, ``kgroups/explain-migration/v1``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TextIO

from kgroups.model.counts import count
from kgroups.model.explain.migration import MigrationExplained, broker_text
from kgroups.model.groups import Group
from kgroups.model.migration import BrokerFacts, Judgment, Verdict
from kgroups.model.outcome import Outcome
from kgroups.model.visible import escape_message

from .cells import escape
from .color import has_color, severity_style, styled
from .explain import what_if_object
from .jsonout import acl_object, plain_data, write_document
from .wrapping import terminal_width, wrap


class MigrationItem(NamedTuple):
    """The answer about a group; ``cluster``: the name of the cluster, if several are queried."""

    explained: MigrationExplained
    cluster: str | None = None


def write_migrations(items: Iterable[MigrationItem], stream: TextIO, fmt: str = "plain") -> None:
    """Write text: for each group both verdicts, each with its blockers and their fixes, and what changes.

    :param fmt: ``table`` is colored, and breaks lines between words on a terminal.
    """
    colored = fmt == "table" and has_color(stream)
    width = terminal_width(stream) if fmt == "table" else None
    for number, item in enumerate(items):
        stream.write("\n" * bool(number) + "\n".join(_lines(item, width, colored=colored)) + "\n")


def _lines(item: MigrationItem, width: int | None, *, colored: bool) -> Iterator[str]:
    """Yield the lines of one group; text from the cluster is escaped."""
    found = item.explained
    group, migration = found.facts.group, found.migration
    name = f"{f'{escape(item.cluster)}: ' if item.cluster else ''}{escape(group.group)}"
    words = " ".join(
        f"{direction}: {_word(judgment.verdict, colored=colored)};"
        for direction, judgment in (("upgrade", migration.upgrade), ("rollback", migration.rollback))
    )
    yield f"{name}: {words.removesuffix(';')}"
    yield wrap(escape(f"{_about(group)}; {broker_text(found.facts.broker)}"), width)
    for direction, judgment in (("upgrade", migration.upgrade), ("rollback", migration.rollback)):
        yield from _judgment(direction, judgment, width)
    if found.notes:
        yield "to know:"
    for note in found.notes:
        yield wrap(f"{note.topic}: {escape(note.text)}", width, first="- ")
        if note.fix:
            yield wrap(f"fix: {escape_message(note.fix)}", width, first="  ", indent=4)


def _word(verdict: Verdict, *, colored: bool) -> str:
    word = verdict_text(verdict)
    return styled(word, severity_style(verdict.severity)) if colored else word


def verdict_text(verdict: Verdict) -> str:
    """Return a verdict as in the text: ``READY IF``."""
    return verdict.value.upper().replace("-", " ")


def _judgment(direction: str, judgment: Judgment, width: int | None) -> Iterator[str]:
    if not judgment.blockers:
        yield wrap(escape(judgment.reason or ""), width, first=f"{direction}: ")
        return
    yield f"{direction}:"
    for blocker in judgment.blockers:
        yield wrap(f"{blocker.rule}: {escape(blocker.text)}", width, first="- ")
        for at, fix in enumerate(blocker.fixes):
            yield wrap(f"{'fix: ' if not at else ''}{escape_message(fix)}", width, first="  ", indent=4)


def _about(group: Group) -> str:
    members = "" if group.members is None else f", {count(len(group.members), 'member')}"
    assignor = f", assignor '{group.protocol}'" if group.protocol else ""
    protocol = f" of protocol type '{group.protocol_type}'" if group.protocol_type not in ("", "consumer") else ""
    return f"a {(group.type or 'classic').lower()} group{protocol}, {group.state}{members}{assignor}"


def write_json(
    outcome: Outcome[MigrationItem],
    stream: TextIO,
    cluster_id: str | None,
    clusters: Mapping[str, str | None] | None = None,
) -> None:
    """Write the JSON envelope; an item is a group with ``upgrade``, ``rollback``, ``progress``, and ``notes``.

    :param clusters: the IDs of several clusters by their names.
    """
    write_document("explain-migration", map(_object, outcome.items), outcome, stream, cluster_id, clusters)


def _object(item: MigrationItem) -> dict[str, object]:
    found = item.explained
    group, migration = found.facts.group, found.migration
    progress = migration.progress
    return {
        **({"cluster": item.cluster} if item.cluster else {}),
        "group": group.group,
        "type": group.type,
        "state": group.state,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "coordinator": plain_data(group.coordinator),
        "upgrade": _judgment_object(migration.upgrade),
        "rollback": _judgment_object(migration.rollback),
        "progress": progress
        and {"upgraded": progress.upgraded, "members": progress.members, "classic": list(progress.classic)},
        "broker": _broker_object(found.facts.broker),
        "other_brokers": list(found.facts.others),
        "notes": [note._asdict() for note in found.notes],
        "what_if": what_if_object(found.moves),
    }


def _judgment_object(judgment: Judgment) -> dict[str, object]:
    return {
        "verdict": judgment.verdict.value,
        "reason": judgment.text,
        "blockers": [
            {
                "rule": each.rule.value,
                "text": each.text,
                "fixes": list(each.fixes),
                "members": list(each.members),
                "missing_acl": each.acl and acl_object(each.acl),
            }
            for each in judgment.blockers
        ],
    }


def _broker_object(broker: BrokerFacts) -> dict[str, object]:
    return {
        "broker": broker.broker,
        "policy": broker.policy,
        "consumer_max_size": broker.consumer_max,
        "classic_max_size": broker.classic_max,
        "group_version": broker.group_version,
        "unknown": broker.unknown,
    }
