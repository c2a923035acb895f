"""Any command line of Kafka's tools ends with a message, and never with a traceback."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.dropins import consumer_groups, groups
from kgroups.dropins.command import Tool
from kgroups.dropins.joptsimple import Option
from kgroups.errors import ClusterUnreachable

VALUES = st.sampled_from(
    ["g", "t:0", "t:0,x", "", "-1", "2024-13-01T00:00:00.000", "PT-5M", "stable,foo", "[::1]:1", "h:1", "/nowhere", "("]
)


def lines(options: tuple[Option, ...]) -> st.SearchStrategy[list[str]]:
    names = st.sampled_from([option.name for option in options])
    word = names.map("--{}".format) | st.builds("--{}={}".format, names, VALUES) | VALUES | st.text(max_size=8)
    return st.lists(word, max_size=12)


@contextlib.contextmanager
def no_cluster() -> Iterator[None]:
    with mock.patch("kgroups.dropins.run.run_query", side_effect=ClusterUnreachable("nobody there")):
        yield


@pytest.mark.parametrize(
    ("tool", "options"),
    [(consumer_groups.TOOL, consumer_groups.OPTIONS), (groups.TOOL, groups.OPTIONS)],
    ids=["kafka-consumer-groups", "kafka-groups"],
)
@given(data=st.data())
def test_any_command_line_ends_without_traceback(tool: Tool, options: tuple[Option, ...], data: st.DataObject) -> None:
    drawn = data.draw(lines(options))
    words = ["--bootstrap-server", "127.0.0.1:1", *drawn] if data.draw(st.booleans()) else drawn
    out, err = io.StringIO(), io.StringIO()
    with no_cluster(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = tool.main(words)
    assert code in (0, 1)
    assert bool(err.getvalue() + out.getvalue()) >= bool(code)
    assert "Traceback" not in err.getvalue()
    if code:
        assert re.fullmatch(r"(\n?Error.*\n(\* Group .*\n)*)?", out.getvalue())
