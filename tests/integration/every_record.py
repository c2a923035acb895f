"""Lets a broker write records of every type that it still writes: groups of all kinds that come, move, and go."""

from __future__ import annotations

import time
from typing import Any, Final

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from kgroups.sandbox.seed import seed_world
from tests.integration.offsets_log import read_log
from tests.integration.streams_member import play_streams_group
from tests.integration.visitors import REGEX, Visitors

SHARE: Final = "every-share"
STREAMS: Final = "every-streams"
TRANSACTIONS: Final = "every-transactions"
GONE: Final = "payments-empty"
"""Of the known world; deleted at the end."""
FORGOTTEN: Final = ("ahead", "clicks")
"""A group of the known world, and a topic of which its commits are deleted at the end."""

COMMITTED, ABORTED = 3, 2
"""Commits in transactions that were."""

_SHARE_RECORDS: Final = {10, 11, 12, 13, 14, 15}
_SECONDS: Final = 60.0


def write_every_record(sandbox: Sandbox, load: Load) -> None:
    """Returns when all is written: first groups of every kind, last the many commits of ``load``."""
    seed_world(sandbox)
    share = _start_share_member(sandbox)
    play_streams_group(sandbox.bootstrap, STREAMS, "orders")
    with Visitors(sandbox):
        _commit_in_transactions(sandbox.bootstrap)
        _wait_for(sandbox, _SHARE_RECORDS)
    sandbox.stop_helper(share)
    _delete(sandbox)
    seed_load(sandbox, load)


def _start_share_member(sandbox: Sandbox) -> int:
    program = sandbox.version.share_consumer
    assert program
    words = ("--bootstrap-server", sandbox.bootstrap, "--topic", "orders", "--group", SHARE)
    return sandbox.start_java(SHARE, program, *words)


def _commit_in_transactions(bootstrap: str) -> None:
    """The commits of the second transaction never happened: who reads committed records does not see them."""
    common: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 3}
    consumer = Consumer(common | {"group.id": TRANSACTIONS})
    producer = Producer(common | {"transactional.id": TRANSACTIONS})
    producer.init_transactions(_SECONDS)
    for count, end in ((COMMITTED, producer.commit_transaction), (ABORTED, producer.abort_transaction)):
        producer.begin_transaction()
        offsets = [TopicPartition("orders", partition, 7, metadata="ü" * partition) for partition in range(count)]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), _SECONDS)
        end(_SECONDS)
    consumer.close()


def _delete(sandbox: Sandbox) -> None:
    """Groups of every kind, and some commits: each leaves tombstones."""
    admin = AdminClient({"bootstrap.servers": sandbox.bootstrap, "log_level": 3})
    for gone in admin.delete_consumer_groups([GONE, REGEX, STREAMS]).values():
        gone.result(_SECONDS)
    group, topic = FORGOTTEN
    done = sandbox.java_tool("--delete-offsets", "--group", group, "--topic", topic)
    assert done.returncode == 0, done.stdout + done.stderr


def _wait_for(sandbox: Sandbox, record_types: set[int]) -> None:
    until = time.monotonic() + _SECONDS
    while missing := record_types - {int.from_bytes(each.key[:2], "big") for each in read_log(sandbox.bootstrap)}:
        assert time.monotonic() < until, f"no records of types {missing}; {SHARE}: {sandbox.log_tail(SHARE)}"
        time.sleep(0.5)
