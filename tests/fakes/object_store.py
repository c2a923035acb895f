"""An S3 server for stores: moto's, whose conditional create is made atomic."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import ThreadedMotoServer


@contextmanager
def s3_bucket() -> Iterator[str]:
    """Start the server; the location of an empty bucket. The environment has what is needed to use it."""
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
