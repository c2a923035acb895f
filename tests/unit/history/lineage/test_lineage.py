"""Events of OpenLineage: valid by its specification, complete, and no obstacle for a collection.

``spec`` has the specification's files as published (Apache License 2.0): https://github.com/OpenLineage/OpenLineage.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import HistoryError
from kgroups.history.jobs.lineage import Lineage
from kgroups.history.lineage.events import Run, Source, collection_event
from kgroups.history.lineage.sink import Sink
from kgroups.history.load.manifest import BATCH, Entry
from kgroups.history.load.records import entry_of, write_records
from kgroups.history.load.store import Identity, Store
from kgroups.history.tables import COMMITS, STORED
from tests.fakes.history import at
from tests.fakes.offset_records import commit_key, commit_value, record_batch

SPEC = {
    data["$id"]: data
    for file in Path(__file__).with_name("spec").glob("*.json")
    for data in [json.loads(file.read_text())]
}
REGISTRY: Registry = Registry().with_resources((name, Resource.from_contents(data)) for name, data in SPEC.items())
RUN_EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
SETTINGS = ClientSettings(parse_bootstrap("broker-1:9092,broker-2:9092"))
Event = dict[str, Any]


def check(event: Event) -> None:
    """Check an event, and each of its facets, against the schema that it names."""
    assert event["schemaURL"] == RUN_EVENT
    validate(event, RUN_EVENT)
    holders = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
    facets = [(name, facet) for holder in holders for name, facet in holder["facets"].items()]
    assert facets
    for name, facet in facets:
        validate(facet, facet["_schemaURL"])
        document = SPEC[facet["_schemaURL"].partition("#")[0]]
        assert name in document["properties"]


def validate(data: object, url: str) -> None:
    Draft202012Validator({"$ref": url}, registry=REGISTRY, format_checker=FormatChecker()).validate(data)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "history"))
    made.create(Identity("cluster-1", "__consumer_offsets", "2026-01-01"))
    return made


def committed(store: Store, *places: tuple[str, str]) -> Entry:
    pairs = [(commit_key(group, topic), commit_value()) for group, topic in places]
    return store.commit(entry_of(BATCH, [write_records(store.storage, store.cluster, [record_batch(pairs)])], ()))


def events_of(file: Path) -> list[Event]:
    found = [json.loads(line) for line in file.read_text().splitlines()]
    for event in found:
        check(event)
    return found


def test_collection_reports_itself_and_each_group(store: Store, tmp_path: Path) -> None:
    file, answer = tmp_path / "events.jsonl", []
    with Lineage(Sink(str(file)), SETTINGS, "__consumer_offsets", store, answer.append) as lineage:
        lineage.add(committed(store, ("g", "orders"), ("g", "clicks"), ("h", "orders")))
        lineage.add(committed(store, ("g", "orders")))  # nothing new
        lineage.add(committed(store, ("h", "late")))
        lineage.add(Entry(BATCH, ()))
    found = events_of(file)
    assert (lineage.lost, answer) == (0, [])
    shown = [(event["job"]["name"], event["eventType"], [each["name"] for each in event["inputs"]]) for event in found]
    assert shown == [
        ("kgroups.history.collect", "START", ["__consumer_offsets"]),
        ("g", "START", ["clicks", "orders"]),
        ("g", "COMPLETE", ["clicks", "orders"]),
        ("h", "START", ["orders"]),
        ("h", "COMPLETE", ["orders"]),
        ("h", "START", ["late", "orders"]),
        ("h", "COMPLETE", ["late", "orders"]),
        ("kgroups.history.collect", "COMPLETE", ["__consumer_offsets"]),
    ]
    first, last = found[0], found[-1]
    assert first["run"]["runId"] == last["run"]["runId"]
    assert {event["run"]["facets"]["parent"]["run"]["runId"] for event in found[1:-1]} == {first["run"]["runId"]}
    assert len({event["run"]["runId"] for event in found}) == 4
    assert {each["namespace"] for event in found for each in [event["job"], *event["inputs"]]} == {
        "kafka://broker-1:9092"
    }
    outputs = [(each["namespace"], each["name"]) for each in last["outputs"]]
    assert outputs == [("file", f"{store.location}/{table.name}") for table in STORED]
    (commits,) = found[1]["outputs"]
    assert [field["name"] for field in commits["facets"]["schema"]["fields"]] == COMMITS.names


@pytest.mark.parametrize(("error", "kind"), [(HistoryError("the log is gone"), "FAIL"), (KeyboardInterrupt(), "ABORT")])
def test_failed_collection_is_reported(store: Store, tmp_path: Path, error: BaseException, kind: str) -> None:
    file = tmp_path / "events.jsonl"
    with pytest.raises(type(error)), Lineage(Sink(str(file)), SETTINGS, "t", store, print):
        raise error
    last = events_of(file)[-1]
    assert last["eventType"] == kind
    assert last["run"]["facets"]["errorMessage"]["message"] == (str(error) or "KeyboardInterrupt")


@pytest.mark.parametrize(
    ("location", "namespace", "name"),
    [
        ("s3://bucket/history/a", "s3://bucket", "history/a/commits"),
        ("s3://bucket", "s3://bucket", "commits"),
        ("file:///data/history", "file", "/data/history/commits"),
    ],
)
def test_datasets_are_named_as_openlineage_names_them(location: str, namespace: str, name: str) -> None:
    event = collection_event(
        Source("b:1", "t", location), Run("00000000-0000-4000-8000-000000000000", "j"), "START", at(0)
    )
    check(event)
    assert {"namespace": namespace, "name": name} in [
        {"namespace": each["namespace"], "name": each["name"]} for each in event["outputs"]
    ]


class Server(HTTPServer):
    status = 201
    got: list[tuple[str, Mapping[str, str], Event]]


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            serving.got.append((self.path, dict(self.headers), body))
            self.send_response(serving.status)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    serving = Server(("127.0.0.1", 0), Handler)
    serving.got = []
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield serving
    serving.shutdown()
    thread.join()
    serving.server_close()


def test_events_are_sent_to_a_server(store: Store, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "secret-key")
    sink = Sink(f"http://127.0.0.1:{server.server_port}")
    with Lineage(sink, SETTINGS, "__consumer_offsets", store, print) as lineage:
        lineage.add(committed(store, ("g", "orders")))
    assert lineage.lost == 0
    assert {path for path, _, _ in server.got} == {"/api/v1/lineage"}
    assert {headers["Authorization"] for _, headers, _ in server.got} == {"Bearer secret-key"}
    assert [event["eventType"] for _, _, event in server.got] == ["START", "START", "COMPLETE", "COMPLETE"]
    for _, _, event in server.got:
        check(event)


def test_server_that_refuses_stops_no_collection_and_is_named_once(store: Store, server: Server) -> None:
    server.status = 503
    answer: list[str] = []
    url = f"http://user:password@127.0.0.1:{server.server_port}/events?token=secret"
    shown = f"http://****@127.0.0.1:{server.server_port}/events"
    with Lineage(Sink(url.replace("user:password@", "")), SETTINGS, "t", store, answer.append) as lineage:
        lineage.add(committed(store, ("g", "orders")))
    assert lineage.lost == 4
    assert answer == [f"OpenLineage: {shown.replace('****@', '')}: HTTP 503 Service Unavailable"]
    assert Sink(url).shown == shown


@pytest.mark.parametrize(
    ("target", "reason"),
    [("http://127.0.0.1:1", "Connection refused"), ("/nowhere/events", "No such file or directory")],
)
def test_target_that_cannot_be_written_is_an_error(target: str, reason: str) -> None:
    with pytest.raises(HistoryError, match=f"OpenLineage: {target}.*: {reason}"):
        Sink(target).write({})
