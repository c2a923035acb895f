"""Stores on this machine, and in an S3 server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import ThreadedMotoServer

from kgroups.pipeline.load.store import Identity, Store

IDENTITY = Identity("cluster-1", "__consumer_offsets", "2026-01-01T00:00:00+00:00", "topic-1")


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The location of an empty bucket, with everything that is needed to use it."""
    lock, respond = threading.Lock(), DomainDispatcherApplication.__call__

    def one_at_a_time(*arguments: Any) -> Any:
        with lock:  # a conditional create of moto is two steps
            return respond(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DomainDispatcherApplication, "__call__", one_at_a_time)
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        environment = {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        for name, value in environment.items():
            patch.setenv(name, value)
        boto3.client("s3", endpoint_url=environment["AWS_ENDPOINT_URL"]).create_bucket(Bucket="bucket")
        yield "s3://bucket"
    server.stop()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "history"))
    made.create(IDENTITY)
    return made


@pytest.fixture
def s3_store(s3: str) -> Store:
    made = Store(f"{s3}/some history {uuid4()}")
    made.create(IDENTITY)
    return made


@pytest.fixture(params=["store", "s3_store"])
def any_store(request: pytest.FixtureRequest) -> Store:
    found: Store = request.getfixturevalue(request.param)
    return found
