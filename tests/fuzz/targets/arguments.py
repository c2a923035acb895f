"""Words of a command line: parsed, or an error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kgroups.admin.query.pattern import compile_pattern
from kgroups.config.settings import parse_bootstrap
from kgroups.dropins import joptsimple
from kgroups.dropins.consumer_groups import OPTIONS
from kgroups.dropins.regex import verdict
from kgroups.errors import KgroupsError
from kgroups.model.duration import parse_seconds
from kgroups.model.explain.change import parse_change
from kgroups.model.moments import parse_duration, parse_moment
from kgroups.model.topic_scope import parse_topic_scope


def seeds() -> Iterator[bytes]:
    yield from (
        *(b"t:0,2-5", b"2026-11-22T10:00:00.000+02:00", b"P1DT2H3.5S", b"500ms", b"members=+2", b"topic:t=12"),
        *(b"h:1,[::1]:9092", b"--describe\n--group\ng\n--topic=t", b"(a|b)*[c-d]{2,3}\\d"),
    )


def one(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for parse in (
        parse_topic_scope_of,
        parse_moment,
        parse_duration,
        parse_change,
        parse_bootstrap,
        lambda words: joptsimple.parse(OPTIONS, words.split("\n")),
        lambda words: compile_pattern(words[:200], "--regex").fullmatch(words),
    ):
        with suppress(KgroupsError, ValueError, joptsimple.OptionError):
            parse(text)
    parse_seconds(text)
    verdict(text[:200])


def parse_topic_scope_of(text: str) -> object:
    return parse_topic_scope([text])
