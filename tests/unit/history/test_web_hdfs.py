"""What a real HDFS does not do on demand: fail over, or answer as a proxy."""

from __future__ import annotations

import pytest
import requests
import responses

from kgroups.errors import HistoryError
from kgroups.history.load.storage import Storage
from kgroups.history.publish.delta import DeltaTarget

STANDBY = {
    "RemoteException": {
        "exception": "StandbyException",
        "javaClassName": "org.apache.hadoop.ipc.StandbyException",
        "message": "Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error",
    }
}
STATUS = {"FileStatus": {"length": 7}}
PATH = "webhdfs/v1/history/x"


@responses.activate
def test_standby_node_is_skipped() -> None:
    responses.get(f"http://first:9870/{PATH}", status=403, json=STANDBY)
    responses.get(f"http://second:1234/{PATH}", json=STATUS)
    assert Storage("hdfs://first,second:1234/history?user=me").size("x") == 7
    assert "op=GETFILESTATUS&user.name=me" in str(responses.calls[1].request.url)


@responses.activate
def test_dead_node_is_skipped() -> None:
    responses.get(f"https://first:9871/{PATH}", body=requests.ConnectTimeout())
    responses.get(f"https://second:9871/{PATH}", json=STATUS)
    assert Storage("swebhdfs://first,second/history?delegation=TOKEN").size("x") == 7
    assert "op=GETFILESTATUS&delegation=TOKEN" in str(responses.calls[1].request.url)


@responses.activate
def test_request_that_may_have_arrived_is_not_repeated() -> None:
    responses.get(f"http://first:9870/{PATH}", body=requests.ConnectionError("Connection reset by peer"))
    with pytest.raises(HistoryError, match="store hdfs://first,second/history: x: no answer from http://first:9870"):
        Storage("hdfs://first,second/history").size("x")


@responses.activate
@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (403, "<html>", "WebHDFS responds with 403 Forbidden"),
        (502, "", "WebHDFS responds with 502 Bad Gateway"),
        (200, "<html>", "WebHDFS responds with text/plain instead of JSON"),
    ],
)
def test_answer_of_a_proxy_is_an_error(status: int, body: str, reason: str) -> None:
    responses.get(f"http://node:9870/{PATH}", status=status, body=body)
    with pytest.raises(HistoryError, match=f"store hdfs://node/history: x: {reason}"):
        Storage("hdfs://node/history?delegation=SECRET").size("x")


def test_node_without_connection_is_named() -> None:
    with pytest.raises(
        HistoryError, match=r"store hdfs://127\.0\.0\.1:1/x: a: no connection to http://127\.0\.0\.1:1$"
    ):
        Storage("hdfs://127.0.0.1:1/x").read("a")


def test_store_in_hdfs_cannot_be_published() -> None:
    with pytest.raises(HistoryError, match=r"store hdfs://node/x: files in HDFS cannot be published"):
        DeltaTarget("hdfs://node/x")


def test_unknown_setting_is_an_error() -> None:
    with pytest.raises(HistoryError, match="HDFS has no setting 'region': use user or delegation"):
        Storage("hdfs://node/history?region=x").read("a")
