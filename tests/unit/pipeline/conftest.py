"""An S3 server for the tests of the store."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The location of an empty bucket, with everything that is needed to use it."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
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
