"""The names of MirrorMaker 2's topics, and the aliases in them."""

from __future__ import annotations

from kgroups.model.translation.mirror_names import MirrorNames


def test_topics_have_the_aliases_in_their_names() -> None:
    names = MirrorNames("us-east", "eu", separator="_", renames=True)
    assert names.syncs_topic() == "mm2-offset-syncs_eu_internal"
    assert names._replace(on_target=True).syncs_topic() == "mm2-offset-syncs_us-east_internal"
    assert names.checkpoints_topic() == "us-east_checkpoints_internal"
    assert names._replace(internal_separator=".").checkpoints_topic() == "us-east.checkpoints.internal"
    assert (names.copy_of("orders"), names._replace(renames=False).copy_of("orders")) == ("us-east_orders", "orders")


def test_aliases_are_found_in_names_of_topics() -> None:
    names = MirrorNames()
    topics = ["mm2-offset-syncs.b.internal", "mm2-offset-syncs.a.b.internal", "a.checkpoints.internal", "a.orders"]
    assert names.syncs_aliases(topics) == ["a.b", "b"]
    assert names.checkpoint_aliases(topics) == ["a"]


def test_own_topics_are_no_copies() -> None:
    names = MirrorNames("a")
    assert not names.has_copies(["a.checkpoints.internal", "a.heartbeats", "orders", "ab.orders"])
    assert names.has_copies(["a.checkpoints.internal", "a.orders"])
