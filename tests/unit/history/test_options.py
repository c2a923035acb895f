"""Options of both data sources: names, suggestions, and the entries that Spark adds."""

from __future__ import annotations

import pytest

from kgroups.errors import UsageError
from kgroups.history.extract.options import OPTIONS as OFFSETS
from kgroups.history.live.options import OPTIONS as LIVE
from kgroups.history.options import Options

SECRET = "hush-hush"


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("maxOffsetsPerTrigger", "use maxRecordsPerTrigger"),
        ("tabel", "use table"),
        ("kafka.bootstrap.servers", "use bootstrap.servers"),
        ("bootstrap_servers", "use bootstrap.servers"),
        ("subscribe", "use topic"),
        ("minPartitions", "use numPartitions"),
        ("group", "use groups"),
        ("sasl.password", "put it into a file and name the file in option command.config, or pass"),
        ("kafka.ssl.key.password", "put it into a file and name the file in option command.config, or"),
        ("xyz", "the options are bootstrap.servers, command.config, topic, "),
    ],
)
def test_unknown_option_is_an_error_with_a_suggestion(key: str, fix: str) -> None:
    with pytest.raises(UsageError) as caught:
        Options("kgroups-offsets", {key: SECRET}, OFFSETS)
    assert str(caught.value).startswith(f"kgroups-offsets: option {key.lower()} is unknown; {fix}")
    assert SECRET not in str(caught.value)


def test_suggestions_are_options_of_the_same_source() -> None:
    with pytest.raises(UsageError, match=r"kgroups-live: option subscribe is unknown; the options are "):
        Options("kgroups-live", {"subscribe": "t"}, LIVE)


def test_option_names_are_case_insensitive() -> None:
    found = Options("s", {"TABLE": "x", "maxrecordspertrigger": "5"}, OFFSETS)
    assert found.as_dict() == {"table": "x", "maxRecordsPerTrigger": "5"}


def test_entries_of_spark_are_not_options() -> None:
    assert Options("s", {"path": "p", "serialization.format": "1"}, LIVE).as_dict() == {}


def test_properties_of_a_catalog_are_not_options() -> None:
    given = {"option.table": "x", "table": "x", "provider": "s", "owner": "me", "team": "a", "location": "l"}
    found = Options("s", given, LIVE)
    assert found.from_catalog and found.as_dict() == {"table": "x"}
    with pytest.raises(UsageError, match="option tabel is unknown; use table"):
        Options("s", given | {"tabel": "x", "option.tabel": "x"}, LIVE)


@pytest.mark.parametrize(
    ("text", "names"),
    [("a", ("a",)), ("a, b,a", ("a", "b")), ('["a,b", "c"]', ("a,b", "c")), (' ["a"]', ("a",))],
)
def test_names_are_a_list(text: str, names: tuple[str, ...]) -> None:
    assert Options("s", {"groups": text}, LIVE).names("groups") == names


@pytest.mark.parametrize("text", ["", "a,,b", "[", "[]", "[1]", '[""]', "a,"])
def test_invalid_names_are_an_error(text: str) -> None:
    with pytest.raises(UsageError, match=r"^s: option groups: '.*' must be NAME,NAME,"):
        Options("s", {"groups": text}, LIVE).names("groups")


def test_names_are_none_if_not_set() -> None:
    assert Options("s", {}, LIVE).names("groups") is None
