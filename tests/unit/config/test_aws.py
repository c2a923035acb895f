"""The AWS region of a signature for MSK."""

from __future__ import annotations

import pytest

from kgroups.config.aws import region_of
from kgroups.config.security import AwsIam
from kgroups.errors import AuthenticationFailed

HERE = "b-1.mine.abc123.c2.kafka.eu-central-1.amazonaws.com"


@pytest.fixture(autouse=True)
def _no_aws_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)


@pytest.mark.parametrize(
    ("host", "region"),
    [
        (HERE, "eu-central-1"),
        (f"{HERE}.", "eu-central-1"),
        ("boot-x.c1.kafka-serverless.us-east-1.amazonaws.com", "us-east-1"),
        ("b-1.mine.abc.c2.kafka.cn-north-1.amazonaws.com.cn", "cn-north-1"),
    ],
)
def test_aws_region_is_read_from_the_broker_name(host: str, region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert region_of(AwsIam(), host) == region
    monkeypatch.setenv("AWS_REGION", "elsewhere-1")
    assert region_of(AwsIam("of-sts-1"), host) == region, "the broker rejects every other region"


@pytest.mark.parametrize(
    "host", ["broker.example", "10.0.0.1", f"{HERE}.evil.example", "kafka.eu-central-1.amazonaws.com"]
)
def test_aws_region_of_other_hosts_comes_from_settings_or_environment(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AuthenticationFailed, match="does not contain its region; set AWS_REGION"):
        region_of(AwsIam(), host)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "default-1")
    assert region_of(AwsIam(), host) == "default-1"
    monkeypatch.setenv("AWS_REGION", "here-1")
    assert region_of(AwsIam(), host) == "here-1"
    assert region_of(AwsIam("said-1"), host) == "said-1"
