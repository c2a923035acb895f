"""Kafka's error codes: number, name, and whether a retry may succeed (``Errors.java``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

RETRIABLE = True


class _Is:
    """A line of the table below, which becomes the code with that number and name."""

    __slots__ = ("number", "retriable")

    def __init__(self, number: int, retriable: bool = False) -> None:
        self.number = number
        self.retriable = retriable

    def __set_name__(self, owner: type[Code], name: str) -> None:
        code = int.__new__(owner, self.number)
        code.name = name
        code.retriable = self.retriable
        _CODES[self.number] = code
        setattr(owner, name, code)

    if TYPE_CHECKING:

        def __get__(self, instance: object, owner: type[Code]) -> Code: ...


_CODES: dict[int, Code] = {}


class Code(int):
    """An error code, one instance per number. ``name`` is Kafka's, in lowercase.

    Not an Enum: creating one with this many members takes four times as long, in every command. An unknown number is a
    code too, such as ``unknown_error_134``: one error code of a newer broker must not invalidate the whole response.
    """

    name: str
    retriable: bool

    def __new__(cls, number: int) -> Code:
        code = _CODES.get(number)
        if code is None:
            _CODES[number] = code = int.__new__(cls, number)
            code.name = f"unknown_error_{number}"
            code.retriable = False
        return code

    def __repr__(self) -> str:
        return f"Code.{self.name}"

    unknown_server_error = _Is(-1)
    none = _Is(0)
    offset_out_of_range = _Is(1)
    corrupt_message = _Is(2, RETRIABLE)
    unknown_topic_or_partition = _Is(3, RETRIABLE)
    invalid_fetch_size = _Is(4)
    leader_not_available = _Is(5, RETRIABLE)
    not_leader_or_follower = _Is(6, RETRIABLE)
    request_timed_out = _Is(7, RETRIABLE)
    broker_not_available = _Is(8)
    replica_not_available = _Is(9, RETRIABLE)
    message_too_large = _Is(10)
    stale_controller_epoch = _Is(11)
    offset_metadata_too_large = _Is(12)
    network_exception = _Is(13, RETRIABLE)
    coordinator_load_in_progress = _Is(14, RETRIABLE)
    coordinator_not_available = _Is(15, RETRIABLE)
    not_coordinator = _Is(16, RETRIABLE)
    invalid_topic_exception = _Is(17)
    record_list_too_large = _Is(18)
    not_enough_replicas = _Is(19, RETRIABLE)
    not_enough_replicas_after_append = _Is(20, RETRIABLE)
    invalid_required_acks = _Is(21)
    illegal_generation = _Is(22)
    inconsistent_group_protocol = _Is(23)
    invalid_group_id = _Is(24)
    unknown_member_id = _Is(25)
    invalid_session_timeout = _Is(26)
    rebalance_in_progress = _Is(27)
    invalid_commit_offset_size = _Is(28)
    topic_authorization_failed = _Is(29)
    group_authorization_failed = _Is(30)
    cluster_authorization_failed = _Is(31)
    invalid_timestamp = _Is(32)
    unsupported_sasl_mechanism = _Is(33)
    illegal_sasl_state = _Is(34)
    unsupported_version = _Is(35)
    topic_already_exists = _Is(36)
    invalid_partitions = _Is(37)
    invalid_replication_factor = _Is(38)
    invalid_replica_assignment = _Is(39)
    invalid_config = _Is(40)
    not_controller = _Is(41, RETRIABLE)
    invalid_request = _Is(42)
    unsupported_for_message_format = _Is(43)
    policy_violation = _Is(44)
    out_of_order_sequence_number = _Is(45)
    duplicate_sequence_number = _Is(46)
    invalid_producer_epoch = _Is(47)
    invalid_txn_state = _Is(48)
    invalid_producer_id_mapping = _Is(49)
    invalid_transaction_timeout = _Is(50)
    concurrent_transactions = _Is(51, RETRIABLE)
    transaction_coordinator_fenced = _Is(52)
    transactional_id_authorization_failed = _Is(53)
    security_disabled = _Is(54)
    operation_not_attempted = _Is(55)
    kafka_storage_error = _Is(56, RETRIABLE)
    log_dir_not_found = _Is(57)
    sasl_authentication_failed = _Is(58)
    unknown_producer_id = _Is(59)
    reassignment_in_progress = _Is(60)
    delegation_token_auth_disabled = _Is(61)
    delegation_token_not_found = _Is(62)
    delegation_token_owner_mismatch = _Is(63)
    delegation_token_request_not_allowed = _Is(64)
    delegation_token_authorization_failed = _Is(65)
    delegation_token_expired = _Is(66)
    invalid_principal_type = _Is(67)
    non_empty_group = _Is(68)
    group_id_not_found = _Is(69)
    fetch_session_id_not_found = _Is(70, RETRIABLE)
    invalid_fetch_session_epoch = _Is(71, RETRIABLE)
    listener_not_found = _Is(72, RETRIABLE)
    topic_deletion_disabled = _Is(73)
    fenced_leader_epoch = _Is(74, RETRIABLE)
    unknown_leader_epoch = _Is(75, RETRIABLE)
    unsupported_compression_type = _Is(76)
    stale_broker_epoch = _Is(77)
    offset_not_available = _Is(78, RETRIABLE)
    member_id_required = _Is(79)
    preferred_leader_not_available = _Is(80, RETRIABLE)
    group_max_size_reached = _Is(81)
    fenced_instance_id = _Is(82)
    eligible_leaders_not_available = _Is(83, RETRIABLE)
    election_not_needed = _Is(84, RETRIABLE)
    no_reassignment_in_progress = _Is(85)
    group_subscribed_to_topic = _Is(86)
    invalid_record = _Is(87)
    unstable_offset_commit = _Is(88, RETRIABLE)
    throttling_quota_exceeded = _Is(89, RETRIABLE)
    producer_fenced = _Is(90)
    resource_not_found = _Is(91)
    duplicate_resource = _Is(92)
    unacceptable_credential = _Is(93)
    inconsistent_voter_set = _Is(94)
    invalid_update_version = _Is(95)
    feature_update_failed = _Is(96)
    principal_deserialization_failure = _Is(97)
    snapshot_not_found = _Is(98)
    position_out_of_range = _Is(99)
    unknown_topic_id = _Is(100, RETRIABLE)
    duplicate_broker_registration = _Is(101)
    broker_id_not_registered = _Is(102)
    inconsistent_topic_id = _Is(103, RETRIABLE)
    inconsistent_cluster_id = _Is(104)
    transactional_id_not_found = _Is(105)
    fetch_session_topic_id_error = _Is(106, RETRIABLE)
    ineligible_replica = _Is(107)
    new_leader_elected = _Is(108)
    offset_moved_to_tiered_storage = _Is(109)
    fenced_member_epoch = _Is(110)
    unreleased_instance_id = _Is(111)
    unsupported_assignor = _Is(112)
    stale_member_epoch = _Is(113)
    mismatched_endpoint_type = _Is(114)
    unsupported_endpoint_type = _Is(115)
    unknown_controller_id = _Is(116)
    unknown_subscription_id = _Is(117)
    telemetry_too_large = _Is(118)
    invalid_registration = _Is(119)
    transaction_abortable = _Is(120)
    invalid_record_state = _Is(121)
    share_session_not_found = _Is(122, RETRIABLE)
    invalid_share_session_epoch = _Is(123, RETRIABLE)
    fenced_state_epoch = _Is(124)
    invalid_voter_key = _Is(125)
    duplicate_voter = _Is(126)
    voter_not_found = _Is(127)
    invalid_regular_expression = _Is(128)
    rebootstrap_required = _Is(129)
    streams_invalid_topology = _Is(130)
    streams_invalid_topology_epoch = _Is(131)
    streams_topology_fenced = _Is(132)
    share_session_limit_reached = _Is(133, RETRIABLE)
    group_deletion_failed = _Is(134)
    streams_topology_description_update_failed = _Is(135)
    controller_id_not_registered = _Is(136)
