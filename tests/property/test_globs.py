"""Globs of group names."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import example, given
from hypothesis import strategies as st

from kgroups.admin.query.pattern import Glob
from kgroups.admin.query.select_groups import Selection
from kgroups.model.groups import is_glob

names = st.text("aA-*?[]!.\\\n№", max_size=6)


@given(names, names)
@example("[!a]", "A")
@example("a*", "a\nb")
def test_glob_matches_as_the_standard_library_does_and_respects_case(text: str, name: str) -> None:
    assert Glob(text).fullmatch(name) == fnmatchcase(name, text)


@given(names.filter(lambda name: not is_glob(name)), names)
def test_text_without_wildcards_matches_only_itself(text: str, name: str) -> None:
    assert Glob(text).fullmatch(name) == (text == name)


@given(st.lists(names.filter(is_glob), min_size=1, max_size=3, unique=True), st.sets(names, max_size=6))
def test_glob_that_is_a_name_selects_only_this_group(globs: list[str], existing: set[str]) -> None:
    settled = Selection(globs=tuple(map(Glob, globs))).settled(existing)
    expected = {
        name
        for name in existing
        if any(name == glob if glob in existing else fnmatchcase(name, glob) for glob in globs)
    }
    assert {name for name in existing if settled.matches(name)} == expected
    assert {failure.name for failure in settled.unmatched_globs(existing)} == {
        glob for glob in globs if glob not in existing and not any(fnmatchcase(name, glob) for name in existing)
    }
