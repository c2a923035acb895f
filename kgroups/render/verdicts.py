"""Write the verdicts of ``kgroups explain --partition``: text, or JSON, ``kgroups/explain-partitions/v1``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TextIO

from kgroups.model.offsets import place_name
from kgroups.model.outcome import Outcome
from kgroups.model.record import RecordDetails
from kgroups.model.verdicts.verdict import Verdict
from kgroups.model.visible import escape_message

from .cells import escape
from .color import has_color, severity_style, styled
from .jsonout import write_document
from .wrapping import fill, terminal_width, wrap

SHOWN_BYTES = 200
"""Bytes of the key and of the value that are shown."""


class Judged(NamedTuple):
    """A verdict, and the first unread record if it is shown.

    ``cluster``: the name of the cluster, if several are queried.
    """

    verdict: Verdict
    record: RecordDetails | None = None
    cluster: str | None = None


def write_verdicts(items: Iterable[Judged], stream: TextIO, fmt: str = "plain") -> None:
    """Write text: for each partition the verdict, the evidence, and the next command; the worst come first.

    :param fmt: ``table`` is colored, and breaks lines between words on a terminal.
    """
    colored = fmt == "table" and has_color(stream)
    width = terminal_width(stream) if fmt == "table" else None
    for number, item in enumerate(sorted(items, key=lambda each: each.verdict.rank)):
        stream.write("\n" * bool(number) + "\n".join(_lines(item, width, colored=colored)) + "\n")


def _lines(item: Judged, width: int | None, *, colored: bool) -> Iterator[str]:
    """Yield the lines of one partition; text from the cluster is escaped."""
    verdict = item.verdict
    mark = verdict.severity.value.upper()
    if colored:
        mark = styled(mark, severity_style(verdict.severity))
    names = [item.cluster, verdict.group, place_name(verdict.topic, verdict.partition)]
    units = [*(f"{escape(name)}:" for name in names if name is not None), f"{mark}: {verdict.key.value}"]
    yield from fill(units, width) if width is not None else [" ".join(units)]
    yield wrap(escape(verdict.text), width, first="  ")
    facts = [escape(each.text) for each in verdict.evidence if each.text]
    facts += [f"not available: {each.part.value}: {escape(each.reason)}" for each in verdict.unavailable]
    if item.record is not None:
        facts += [f"{name}: {text}" for name, text in _contents(item.record).items()]
    for fact in facts:
        yield wrap(fact, width, first="  - ", indent=4)
    if verdict.next:
        yield wrap(f"next: {escape_message(verdict.next)}", width, first="  ", indent=4)


def _contents(record: RecordDetails) -> dict[str, str]:
    return {"key": _bytes_text(record.key), "value": _bytes_text(record.value)}


def _bytes_text(data: bytes | None) -> str:
    """Return the first bytes as escaped text, and how many more there are."""
    if data is None:
        return "null"
    more = len(data) - SHOWN_BYTES
    text = escape(data[:SHOWN_BYTES].decode("utf-8", "backslashreplace"))
    return f"{text} … and {more:,} more bytes" if more > 0 else text


def write_json(
    outcome: Outcome[Judged],
    stream: TextIO,
    cluster_id: str | None,
    clusters: Mapping[str, str | None] | None = None,
) -> None:
    """Write the JSON envelope; an item is a partition with ``verdict``, ``facts``, and ``unavailable``.

    :param clusters: the IDs of several clusters by their names.
    """
    write_document("explain-partitions", map(_object, outcome.items), outcome, stream, cluster_id, clusters)


def _object(item: Judged) -> dict[str, object]:
    verdict = item.verdict
    return {
        **({"cluster": item.cluster} if item.cluster else {}),
        "group": verdict.group,
        "topic": verdict.topic,
        "partition": verdict.partition,
        "verdict": verdict.key.value,
        "severity": verdict.severity.value,
        "text": verdict.text,
        "facts": {each.name: each.value for each in verdict.evidence},
        "evidence": [each.text for each in verdict.evidence if each.text],
        "next": verdict.next,
        "unavailable": [{"part": each.part.value, "reason": each.reason} for each in verdict.unavailable],
        **({"record": _contents(item.record)} if item.record else {}),
    }
