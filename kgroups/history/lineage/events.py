"""Events of OpenLineage (specification 2-0-2). Pure, except for the clock and random IDs that callers pass.

A consumer group is a job whose inputs are the topics that it commits on, and whose output is the table ``commits``. The
collection is the parent of these runs: a job whose input is the log, and whose outputs are the tables of the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from kgroups.version import __version__

from ..tables import STORED, Table

START, COMPLETE, FAIL, ABORT = "START", "COMPLETE", "FAIL", "ABORT"
COLLECTION: Final = "kgroups.history.collect"
"""Name of the job of a collection."""

_PRODUCER: Final = f"urn:kgroups:{__version__}"
_SPEC: Final = "https://openlineage.io/spec"
_EVENT: Final = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS: Final = {
    "schema": "1-2-0/SchemaDatasetFacet",
    "dataSource": "1-0-1/DatasourceDatasetFacet",
    "jobType": "2-0-4/JobTypeJobFacet",
    "parent": "1-2-0/ParentRunFacet",
    "errorMessage": "1-0-1/ErrorMessageRunFacet",
}

Json = dict[str, Any]


class Source(NamedTuple):
    """Where a collection reads, and where it writes."""

    bootstrap: str
    """The first bootstrap server, as ``HOST:PORT``."""
    topic: str
    store: str
    """Location of the store, without secrets."""

    @property
    def kafka(self) -> str:
        """The namespace of topics and groups."""
        return f"kafka://{self.bootstrap}"


class Run(NamedTuple):
    """A run of the collection, or of a group during it."""

    run_id: str
    job: str


def collection_event(source: Source, run: Run, kind: str, at: datetime, error: str | None = None) -> Json:
    """Return an event of the collection; ``error``: why it failed."""
    facets = {"errorMessage": _facet("errorMessage", message=error, programmingLanguage="PYTHON")} if error else {}
    event = _event(source, run, kind, at, facets, "BATCH", "HISTORY")
    return event | {
        "inputs": [_topic(source, source.topic)],
        "outputs": [_table(source, table) for table in STORED],
    }


def group_event(source: Source, run: Run, parent: Run, topics: Iterable[str], kind: str, at: datetime) -> Json:
    """Return an event of a group that commits on these topics."""
    facet = _facet("parent", run={"runId": parent.run_id}, job={"namespace": source.kafka, "name": parent.job})
    event = _event(source, run, kind, at, {"parent": facet}, "STREAMING", "CONSUMER_GROUP")
    (commits,) = (table for table in STORED if table.name == "commits")
    return event | {
        "inputs": [_topic(source, topic) for topic in sorted(topics)],
        "outputs": [_table(source, commits)],
    }


def _event(
    source: Source, run: Run, kind: str, at: datetime, facets: Mapping[str, Json], processing: str, job_type: str
) -> Json:
    job_facet = _facet("jobType", processingType=processing, integration="KAFKA", jobType=job_type)
    return {
        "eventType": kind,
        "eventTime": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "producer": _PRODUCER,
        "schemaURL": _EVENT,
        "run": {"runId": run.run_id, "facets": dict(facets)},
        "job": {"namespace": source.kafka, "name": run.job, "facets": {"jobType": job_facet}},
    }


def _topic(source: Source, topic: str) -> Json:
    facet = _facet("dataSource", name=source.kafka, uri=source.kafka)
    return {"namespace": source.kafka, "name": topic, "facets": {"dataSource": facet}}


def _table(source: Source, table: Table) -> Json:
    namespace, name, uri = _place(source.store)
    fields = [{"name": each.name, "type": each.type, "description": each.doc} for each in table.columns]
    facets = {
        "schema": _facet("schema", fields=fields),
        "dataSource": _facet("dataSource", name=namespace, uri=uri),
    }
    return {"namespace": namespace, "name": f"{name}/{table.name}" if name else table.name, "facets": facets}


def _place(store: str) -> tuple[str, str, str]:
    """Return the namespace, the name, and the URI of a store, by the naming of OpenLineage."""
    if "://" not in store or store.startswith("file://"):
        path = Path(store.removeprefix("file://")).absolute()
        return "file", str(path), path.as_uri()
    parts = urlsplit(store)
    return f"{parts.scheme}://{parts.netloc}", parts.path.strip("/"), store


def _facet(name: str, /, **content: Any) -> Json:
    path = _FACETS[name]
    url = f"{_SPEC}/facets/{path}.json#/$defs/{path.rpartition('/')[2]}"
    return {"_producer": _PRODUCER, "_schemaURL": url, **content}
