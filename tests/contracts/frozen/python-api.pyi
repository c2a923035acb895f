"""The public Python API of kgroups, frozen: python -m tests.contracts.generate writes it. See docs/stability.md."""


class Acl(NamedTuple):
    def __new__(cls, operation: str, resource: str, name: str | None): ...
    operation: str
    resource: str
    name: str | None
    @property
    def of_each(self) -> str: ...

class AppliedOffset(NamedTuple):
    def __new__(cls, planned: PlannedOffset, result: Result, failure: Failure | None = None): ...
    planned: PlannedOffset
    result: Result
    failure: Failure | None = None
    @property
    def group(self) -> GroupId: ...

class AppliedSetting(NamedTuple):
    def __new__(cls, planned: PlannedSetting, result: Result, failure: Failure | None = None): ...
    planned: PlannedSetting
    result: Result
    failure: Failure | None = None
    @property
    def group(self) -> GroupId: ...

class AsyncCluster(SettingsMethods):
    async def list(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> Outcome[ListedGroup]: ...
    async def describe(self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), all_groups: bool = False) -> Outcome[Group]: ...
    async def offsets(self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), read_committed: bool = False, all_groups: bool = False) -> Outcome[OffsetRow]: ...
    async def lag(self, *groups: str, by: str = 'group', regex: str | None = None, topics: Iterable[str] = (), read_committed: bool = False, all_groups: bool = False) -> Outcome[Any]: ...
    async def check(self, *groups: str, limits: Limits, regex: str | None = None, window: float = 30.0, samples: int = 3, all_groups: bool = False) -> Report: ...
    async def describe_settings(self, *groups: str, keys: Iterable[str] = (), overridden: bool = False, regex: str | None = None, all_groups: bool = False) -> Outcome[SettingRow]: ...
    async def plan_settings(self, *groups: str, values: Mapping[str, str | int | bool | None], regex: str | None = None, all_groups: bool = False) -> Outcome[PlannedSetting]: ...
    async def plan_restore_settings(self, file: str | os.PathLike[str], *groups: str, exact: bool = False) -> Outcome[PlannedSetting]: ...
    async def alter_settings(self, plan: Sequence[PlannedSetting]) -> Outcome[AppliedSetting]: ...
    def __init__(self, bootstrap: str | None = None, *, command_config: str | os.PathLike[str] | None = None, properties: Mapping[str, str] | None = None, profile: str | None = None, timeout: float | None = None, broker_timeout: float | None = None, transport: str | None = None, config_providers: bool | None = None, max_requests_per_second: float | None = None) -> None: ...
    settings: Any
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...
    async def plan_reset(self, *groups: str, to: Scenario, topics: Iterable[str] | None = None, regex: str | None = None, all_groups: bool = False, create_group: bool = False) -> Outcome[PlannedOffset]: ...
    async def apply(self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW) -> Outcome[AppliedOffset]: ...
    async def plan_delete_offsets(self, *groups: str, topics: Iterable[str], regex: str | None = None, all_groups: bool = False) -> Outcome[PlannedOffset]: ...
    async def delete_offsets(self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW) -> Outcome[AppliedOffset]: ...
    async def plan_delete(self, *groups: str, regex: str | None = None, all_groups: bool = False) -> Outcome[PlannedDeletion]: ...
    async def delete(self, *groups: str | PlannedDeletion, force: bool = False, commit_window: float = WINDOW, including_hidden_offsets: bool = False) -> Outcome[DeletedGroup]: ...
    async def undo(self, change: Outcome[Any], *, commit_window: float = WINDOW) -> Outcome[Any]: ...
    async def save_snapshot(self, file: str | os.PathLike[str], *groups: str, topics: Iterable[str] = (), regex: str | None = None, all_groups: bool = False, records: bool = False, overwrite: bool = False) -> Outcome[SnapshotRow]: ...
    async def plan_restore(self, file: str | os.PathLike[str], *groups: str, topics: Iterable[str] | None = None, create_group: bool = False, exact: bool = False) -> Outcome[PlannedOffset]: ...

class AsyncFleet:
    def __init__(self, *profiles: str, timeout: float | None = None, cluster_timeout: float | None = None) -> None: ...
    profiles: Any
    async def list(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> Outcome[InCluster[ListedGroup]]: ...
    async def describe(self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), all_groups: bool = False) -> Outcome[InCluster[Group]]: ...
    async def offsets(self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), read_committed: bool = False, all_groups: bool = False) -> Outcome[InCluster[OffsetRow]]: ...
    async def lag(self, *groups: str, by: str = 'group', regex: str | None = None, topics: Iterable[str] = (), read_committed: bool = False, all_groups: bool = False) -> Outcome[InCluster[LagRow]]: ...
    async def check(self, *groups: str, limits: Limits, regex: str | None = None, window: float = 30.0, samples: int = 3, all_groups: bool = False) -> Report: ...

class AuthenticationFailed(BrokerUnavailable):
    exit_code = 1
    peer: str | None
    hint: str | None
    def __init__(self, text: str = '', *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None) -> None: ...
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...
    default_reason = Reason.AUTHENTICATION_FAILED

class BrokerUnavailable(KgroupsError):
    exit_code = 1
    peer: str | None
    hint: str | None
    def __init__(self, text: str = '', *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None) -> None: ...
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...
    default_reason = Reason.CONNECTION_FAILED

class Cluster:
    def __init__(self, bootstrap: str | None = None, *, command_config: str | os.PathLike[str] | None = None, properties: Mapping[str, str] | None = None, profile: str | None = None, timeout: float | None = None, broker_timeout: float | None = None, transport: str | None = None, config_providers: bool | None = None, max_requests_per_second: float | None = None) -> None: ...
    @property
    def settings(self) -> ClientSettings: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...
    def list(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> Outcome[ListedGroup]: ...
    def describe(self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), all_groups: bool = False) -> Outcome[Group]: ...
    def offsets(self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), read_committed: bool = False, all_groups: bool = False) -> Outcome[OffsetRow]: ...
    def lag(self, *groups: str, by: str = 'group', regex: str | None = None, topics: Iterable[str] = (), read_committed: bool = False, all_groups: bool = False) -> Outcome[Any]: ...
    def check(self, *groups: str, limits: Limits, regex: str | None = None, window: float = 30.0, samples: int = 3, all_groups: bool = False) -> Report: ...
    def plan_reset(self, *groups: str, to: Scenario, topics: Iterable[str] | None = None, regex: str | None = None, all_groups: bool = False, create_group: bool = False) -> Outcome[PlannedOffset]: ...
    def apply(self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW) -> Outcome[AppliedOffset]: ...
    def plan_delete_offsets(self, *groups: str, topics: Iterable[str], regex: str | None = None, all_groups: bool = False) -> Outcome[PlannedOffset]: ...
    def delete_offsets(self, plan: Sequence[PlannedOffset], *, force: bool = False, commit_window: float = WINDOW) -> Outcome[AppliedOffset]: ...
    def plan_delete(self, *groups: str, regex: str | None = None, all_groups: bool = False) -> Outcome[PlannedDeletion]: ...
    def delete(self, *groups: str | PlannedDeletion, force: bool = False, commit_window: float = WINDOW, including_hidden_offsets: bool = False) -> Outcome[DeletedGroup]: ...
    def describe_settings(self, *groups: str, keys: Iterable[str] = (), overridden: bool = False, regex: str | None = None, all_groups: bool = False) -> Outcome[SettingRow]: ...
    def plan_settings(self, *groups: str, values: Mapping[str, str | int | bool | None], regex: str | None = None, all_groups: bool = False) -> Outcome[PlannedSetting]: ...
    def plan_restore_settings(self, file: str | os.PathLike[str], *groups: str, exact: bool = False) -> Outcome[PlannedSetting]: ...
    def alter_settings(self, plan: Sequence[PlannedSetting]) -> Outcome[AppliedSetting]: ...
    def undo(self, change: Outcome[Any], *, commit_window: float = WINDOW) -> Outcome[Any]: ...
    def save_snapshot(self, file: str | os.PathLike[str], *groups: str, topics: Iterable[str] = (), regex: str | None = None, all_groups: bool = False, records: bool = False, overwrite: bool = False) -> Outcome[SnapshotRow]: ...
    def plan_restore(self, file: str | os.PathLike[str], *groups: str, topics: Iterable[str] | None = None, create_group: bool = False, exact: bool = False) -> Outcome[PlannedOffset]: ...

class ClusterUnreachable(KgroupsError):
    exit_code = 1
    peer: str | None
    hint: str | None
    def __init__(self, text: str = '', *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None) -> None: ...
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...
    default_reason = Reason.CLUSTER_UNREACHABLE

class Commit(NamedTuple):
    def __new__(cls, partition: int, offset: int, leader_epoch: int | None = None, metadata: str | None = ''): ...
    partition: int
    offset: int
    leader_epoch: int | None = None
    metadata: str | None = ''

class ConfigError(KgroupsError):
    peer: str | None
    hint: str | None
    def __init__(self, text: str = '', *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None) -> None: ...
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...
    exit_code = 2
    default_reason = Reason.INVALID_CONFIG

class DeadlineExceeded(KgroupsError):
    exit_code = 1
    peer: str | None
    hint: str | None
    def __init__(self, text: str = '', *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None) -> None: ...
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...
    default_reason = Reason.TIMEOUT

class DeletedGroup(NamedTuple):
    def __new__(cls, group_id: GroupId, result: Result, failure: Failure | None = None): ...
    group_id: GroupId
    result: Result
    failure: Failure | None = None
    @property
    def group(self) -> GroupId: ...

class Failure(NamedTuple):
    def __new__(cls, scope: Scope, name: str, message: str, error: str | None = None, code: int | None = None, api: str | None = None, broker: int | None = None, acl: Acl | None = None, reason: Reason | None = None, hint: str | None = None, general: str | None = None, cluster: str | None = None): ...
    scope: Scope
    name: str
    message: str
    error: str | None = None
    code: int | None = None
    api: str | None = None
    broker: int | None = None
    acl: Acl | None = None
    reason: Reason | None = None
    hint: str | None = None
    general: str | None = None
    cluster: str | None = None
    @property
    def reference(self) -> str | None: ...
    @classmethod
    def of(cls, error: KgroupsError, scope: Scope, name: str, *, api: str | None = None, broker: int | None = None) -> Failure: ...
    def sort_key(self) -> tuple[str, str, str, str, str, int]: ...

class Finding(NamedTuple):
    def __new__(cls, group: GroupId, check: str, severity: Severity, message: str, value: float | None = None, unit: str = '', limit: Threshold | None = None, topic: str | None = None, cluster: str = ''): ...
    group: GroupId
    check: str
    severity: Severity
    message: str
    value: float | None = None
    unit: str = ''
    limit: Threshold | None = None
    topic: str | None = None
    cluster: str = ''

class Fleet:
    def __init__(self, *profiles: str, timeout: float | None = None, cluster_timeout: float | None = None) -> None: ...
    @property
    def profiles(self) -> tuple[str, ...]: ...
    def list(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> Outcome[InCluster[ListedGroup]]: ...
    def describe(self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), all_groups: bool = False) -> Outcome[InCluster[Group]]: ...
    def offsets(self, *groups: str, regex: str | None = None, topics: Iterable[str] = (), read_committed: bool = False, all_groups: bool = False) -> Outcome[InCluster[OffsetRow]]: ...
    def lag(self, *groups: str, by: str = 'group', regex: str | None = None, topics: Iterable[str] = (), read_committed: bool = False, all_groups: bool = False) -> Outcome[InCluster[LagRow]]: ...
    def check(self, *groups: str, limits: Limits, regex: str | None = None, window: float = 30.0, samples: int = 3, all_groups: bool = False) -> Report: ...

class FromPlan:
    moves: Mapping[PlanKey, Move]
    exact: bool = False
    where: Mapping[PlanKey, str]
    kinds: Mapping[GroupId, str]
    origin: Origin | None = None
    creates: bool = True
    def __init__(self, moves: Mapping[PlanKey, Move], exact: bool = False, where: Mapping[PlanKey, str] = dict(), kinds: Mapping[GroupId, str] = dict(), origin: Origin | None = None, creates: bool = True) -> None: ...

class Group(NamedTuple):
    def __new__(cls, group_id: GroupId, type: str | None, state: str, protocol_type: str, protocol: str, coordinator: Node, members: tuple[Member, ...] | None = (), group_epoch: int | None = None, target_assignment_epoch: int | None = None, topology: Topology | None = None): ...
    group_id: GroupId
    type: str | None
    state: str
    protocol_type: str
    protocol: str
    coordinator: Node
    members: tuple[Member, ...] | None = ()
    group_epoch: int | None = None
    target_assignment_epoch: int | None = None
    topology: Topology | None = None
    def is_assigned(self, topics: Container[str]) -> bool: ...
    @property
    def group(self) -> GroupId: ...

class GroupLagRow(NamedTuple):
    def __new__(cls, group: str, state: str, members: int | None, total_lag: int | None, max_lag: int | None, max_topic: str | None, max_partition: int | None, partitions: int, behind: int, uncommitted: int, unknown: int, ahead: int, data_lost: int, time_lag_ms: Milliseconds | None, note: str | None, known_lag: int | None = None, headroom_ms: Milliseconds | None = None, headroom_max_ms: Milliseconds | None = None, headroom_by: str | None = None, unread_min: int | None = None, unread_max: int | None = None): ...
    group: str
    state: str
    members: int | None
    total_lag: int | None
    max_lag: int | None
    max_topic: str | None
    max_partition: int | None
    partitions: int
    behind: int
    uncommitted: int
    unknown: int
    ahead: int
    data_lost: int
    time_lag_ms: Milliseconds | None
    note: str | None
    known_lag: int | None = None
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None

class InCluster(NamedTuple, Generic[T]):
    def __new__(cls, cluster: str, item: T): ...
    cluster: str
    item: T

class KgroupsError(Exception):
    exit_code = 1
    default_reason = Reason.INTERNAL_ERROR
    peer: str | None
    hint: str | None
    def __init__(self, text: str = '', *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None) -> None: ...
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...

class Limits(NamedTuple):
    def __new__(cls, states: frozenset[str] = frozenset(), type: str | None = None, assignor: str | None = None, members: int | None = None, min_members: int | None = None, assigned: bool = False, lag: Threshold | None = None, partition_lag: Threshold | None = None, topic_lag: tuple[tuple[str, Threshold], ...] = (), time_lag: Threshold | None = None, commit_age: Threshold | None = None, redeliveries: Threshold | None = None, progress_age: Threshold | None = None, headroom: Threshold | None = None, offset_headroom: Threshold | None = None, stopped: bool = False, trend: bool = False, allow_uncommitted: bool = False, skip_missing_topics: bool = False): ...
    states: frozenset[str] = frozenset()
    type: str | None = None
    assignor: str | None = None
    members: int | None = None
    min_members: int | None = None
    assigned: bool = False
    lag: Threshold | None = None
    partition_lag: Threshold | None = None
    topic_lag: tuple[tuple[str, Threshold], ...] = ()
    time_lag: Threshold | None = None
    commit_age: Threshold | None = None
    redeliveries: Threshold | None = None
    progress_age: Threshold | None = None
    headroom: Threshold | None = None
    offset_headroom: Threshold | None = None
    stopped: bool = False
    trend: bool = False
    allow_uncommitted: bool = False
    skip_missing_topics: bool = False
    def or_else(self, others: Limits) -> Limits: ...

class ListedGroup(NamedTuple):
    def __new__(cls, group_id: GroupId, protocol_type: str, coordinator: Node, state: str | None = None, type: str | None = None): ...
    group_id: GroupId
    protocol_type: str
    coordinator: Node
    state: str | None = None
    type: str | None = None
    @property
    def group(self) -> GroupId: ...

class Member(NamedTuple):
    def __new__(cls, member_id: str, client_id: str, host: str, assignment: Assignment, instance_id: str | None = None, rack_id: str | None = None, subscription: Subscription = Subscription(), member_epoch: int | None = None, target: Assignment | None = None, upgraded: bool | None = None, streams: StreamsMember | None = None, metadata_bytes: int | None = None, assignment_bytes: int | None = None): ...
    member_id: str
    client_id: str
    host: str
    assignment: Assignment
    instance_id: str | None = None
    rack_id: str | None = None
    subscription: Subscription
    member_epoch: int | None = None
    target: Assignment | None = None
    upgraded: bool | None = None
    streams: StreamsMember | None = None
    metadata_bytes: int | None = None
    assignment_bytes: int | None = None

class MemberLagRow(NamedTuple):
    def __new__(cls, group: str, consumer_id: str | None, group_instance_id: str | None, host: str | None, client_id: str | None, total_lag: int | None, max_lag: int | None, max_topic: str | None, max_partition: int | None, partitions: int, behind: int, uncommitted: int, unknown: int, ahead: int, data_lost: int, time_lag_ms: Milliseconds | None, note: str | None, known_lag: int | None = None, headroom_ms: Milliseconds | None = None, headroom_max_ms: Milliseconds | None = None, headroom_by: str | None = None, unread_min: int | None = None, unread_max: int | None = None): ...
    group: str
    consumer_id: str | None
    group_instance_id: str | None
    host: str | None
    client_id: str | None
    total_lag: int | None
    max_lag: int | None
    max_topic: str | None
    max_partition: int | None
    partitions: int
    behind: int
    uncommitted: int
    unknown: int
    ahead: int
    data_lost: int
    time_lag_ms: Milliseconds | None
    note: str | None
    known_lag: int | None = None
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None

class Minimum(Threshold):
    warning: float | None = None
    critical: float | None = None
    def limit_broken(self, value: float) -> float | None: ...
    @property
    def beyond(self) -> str: ...
    def judge(self, value: float) -> Severity: ...
    @property
    def in_order(self) -> bool: ...

class MissingPackage(KgroupsError):
    peer: str | None
    hint: str | None
    def __init__(self, text: str = '', *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None) -> None: ...
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...
    exit_code = 2
    default_reason = Reason.MISSING_PACKAGE

class OffsetRow(NamedTuple):
    def __new__(cls, group: str, topic: str | None = None, partition: int | None = None, leader_epoch: int | None = None, current_offset: int | None = None, log_start_offset: int | None = None, log_end_offset: int | None = None, lag: int | None = None, consumer_id: str | None = None, host: str | None = None, client_id: str | None = None, group_instance_id: str | None = None, note: str | None = None, start_offset: int | None = None, topic_role: str | None = None): ...
    group: str
    topic: str | None = None
    partition: int | None = None
    leader_epoch: int | None = None
    current_offset: int | None = None
    log_start_offset: int | None = None
    log_end_offset: int | None = None
    lag: int | None = None
    consumer_id: str | None = None
    host: str | None = None
    client_id: str | None = None
    group_instance_id: str | None = None
    note: str | None = None
    start_offset: int | None = None
    topic_role: str | None = None

class Outcome(Generic[T]):
    items: tuple[T, ...] = ()
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    missing_acls: tuple[Acl, ...] = ()
    change: Change | SettingsChange | None
    @classmethod
    def of(cls, outcome: ModelOutcome[T], change: Change | SettingsChange | None = None) -> Outcome[T]: ...
    def __iter__(self) -> Iterator[T]: ...
    def __len__(self) -> int: ...
    @property
    def exit_code(self) -> int: ...
    def raise_for_failures(self) -> Self: ...
    def to_dicts(self) -> list[dict[str, Any]]: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def __init__(self, items: tuple[T, ...] = (), failures: tuple[Failure, ...] = (), notices: tuple[str, ...] = (), missing_acls: tuple[Acl, ...] = (), change: Change | SettingsChange | None = None) -> None: ...

class PartialFailure(KgroupsError):
    exit_code = 1
    default_reason = Reason.INTERNAL_ERROR
    peer: str | None
    hint: str | None
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...
    def __init__(self, message: str, failures: tuple[Failure, ...]) -> None: ...
    failures: Any

class PartitionLagRow(NamedTuple):
    def __new__(cls, group: str, topic: str, partition: int, current_offset: int | None, log_start_offset: int | None, log_end_offset: int | None, lag: int | None, time_lag_ms: Milliseconds | None, consumer_id: str | None, host: str | None, client_id: str | None, group_instance_id: str | None, note: str | None, start_offset: int | None = None, headroom_ms: Milliseconds | None = None, headroom_max_ms: Milliseconds | None = None, headroom_by: str | None = None, unread_min: int | None = None, unread_max: int | None = None): ...
    group: str
    topic: str
    partition: int
    current_offset: int | None
    log_start_offset: int | None
    log_end_offset: int | None
    lag: int | None
    time_lag_ms: Milliseconds | None
    consumer_id: str | None
    host: str | None
    client_id: str | None
    group_instance_id: str | None
    note: str | None
    start_offset: int | None = None
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None
    @property
    def total_lag(self) -> int | None: ...
    @property
    def behind(self) -> int: ...
    @property
    def unknown(self) -> int: ...
    @property
    def known_lag(self) -> int | None: ...

class PlannedDeletion(NamedTuple):
    def __new__(cls, planned: GroupDeletion): ...
    planned: GroupDeletion
    @property
    def group(self) -> GroupId: ...
    @property
    def commits(self) -> Mapping[tuple[str, int], Commit | None]: ...

class PlannedOffset(NamedTuple):
    def __new__(cls, group_id: GroupId, topic: str, partition: int, before: Commit | None, after: Commit | None, clamp: Clamp | None = None, note: str | None = None, kind: str | None = None, beyond_end: bool = False, skipped: tuple[RecordDetails, ...] = ()): ...
    group_id: GroupId
    topic: str
    partition: int
    before: Commit | None
    after: Commit | None
    clamp: Clamp | None = None
    note: str | None = None
    kind: str | None = None
    beyond_end: bool = False
    skipped: tuple[RecordDetails, ...] = ()
    @property
    def group(self) -> GroupId: ...
    @property
    def old(self) -> int | None: ...
    @property
    def new(self) -> int | None: ...
    @property
    def distance(self) -> int | None: ...
    @property
    def key(self) -> PlanKey: ...

class PlannedSetting(NamedTuple):
    def __new__(cls, group_id: GroupId, name: str, before: Value, after: Value, old: str | None, new: str | None): ...
    group_id: GroupId
    name: str
    before: Value
    after: Value
    old: str | None
    new: str | None
    @property
    def key(self) -> tuple[GroupId, str]: ...
    @property
    def group(self) -> GroupId: ...

class Reason(StrEnum):
    NAME_NOT_RESOLVED = 'name_not_resolved'
    INVALID_ADDRESS = 'invalid_address'
    CONNECTION_REFUSED = 'connection_refused'
    CONNECTION_FAILED = 'connection_failed'
    CONNECTION_CLOSED = 'connection_closed'
    NO_RESPONSE = 'no_response'
    TIMEOUT = 'timeout'
    THROTTLED = 'throttled'
    CLUSTER_UNREACHABLE = 'cluster_unreachable'
    NO_BROKERS = 'no_brokers'
    TLS_REQUIRED = 'tls_required'
    NOT_TLS = 'not_tls'
    TLS_INCOMPATIBLE = 'tls_incompatible'
    TLS_FAILED = 'tls_failed'
    CERTIFICATE_UNTRUSTED = 'certificate_untrusted'
    CERTIFICATE_EXPIRED = 'certificate_expired'
    CERTIFICATE_NOT_YET_VALID = 'certificate_not_yet_valid'
    CERTIFICATE_NAME_MISMATCH = 'certificate_name_mismatch'
    CLIENT_CERTIFICATE_REQUIRED = 'client_certificate_required'
    CLIENT_CERTIFICATE_REJECTED = 'client_certificate_rejected'
    AUTHENTICATION_FAILED = 'authentication_failed'
    AUTHENTICATION_NOT_SUPPORTED = 'authentication_not_supported'
    MECHANISM_UNSUPPORTED = 'mechanism_unsupported'
    TOKEN_UNAVAILABLE = 'token_unavailable'
    TOKEN_EXPIRED = 'token_expired'
    NOT_AUTHORIZED = 'not_authorized'
    TOPIC_NOT_FOUND = 'topic_not_found'
    NOT_KAFKA = 'not_kafka'
    INVALID_RESPONSE = 'invalid_response'
    RESPONSE_TOO_LARGE = 'response_too_large'
    DECODING_TIMEOUT = 'decoding_timeout'
    VERSION_UNSUPPORTED = 'version_unsupported'
    NOT_SENT = 'not_sent'
    OUTCOME_UNKNOWN = 'outcome_unknown'
    INVALID_USAGE = 'invalid_usage'
    INVALID_CONFIG = 'invalid_config'
    MISSING_PACKAGE = 'missing_package'
    OUT_OF_RESOURCES = 'out_of_resources'
    SANDBOX_FAILED = 'sandbox_failed'
    HISTORY_FAILED = 'history_failed'
    INTERNAL_ERROR = 'internal_error'

class Report(NamedTuple):
    def __new__(cls, findings: tuple[Finding, ...], at: int, clusters: Mapping[str, str | None] = MappingProxyType({})): ...
    findings: tuple[Finding, ...]
    at: int
    clusters: Mapping[str, str | None]
    @property
    def severity(self) -> Severity: ...
    @property
    def bad(self) -> tuple[Finding, ...]: ...

class Result(StrEnum):
    APPLIED = 'applied'
    FAILED = 'failed'
    UNKNOWN = 'unknown'

class Scope(StrEnum):
    CLUSTER = 'cluster'
    BROKER = 'broker'
    GROUP = 'group'
    TOPIC = 'topic'
    PARTITION = 'partition'

class SettingRow(NamedTuple):
    def __new__(cls, group: str, key: str, value: str | None, origin: str | None, inherited: str | None, inherited_origin: str | None): ...
    group: str
    key: str
    value: str | None
    origin: str | None
    inherited: str | None
    inherited_origin: str | None

class Severity(IntEnum):
    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

class ShiftBy:
    by: int
    def __init__(self, by: int) -> None: ...

class SnapshotRow(NamedTuple):
    def __new__(cls, created: str | None, cluster_id: str | None, groups: int, members: int | None, topics: int, offsets: int, records: int, failures: int, complete: bool, version: str | None, bootstrap: str | None, command: str | None): ...
    created: str | None
    cluster_id: str | None
    groups: int
    members: int | None
    topics: int
    offsets: int
    records: int
    failures: int
    complete: bool
    version: str | None
    bootstrap: str | None
    command: str | None

class Threshold(NamedTuple):
    def __new__(cls, warning: float | None = None, critical: float | None = None): ...
    warning: float | None = None
    critical: float | None = None
    @property
    def beyond(self) -> str: ...
    def judge(self, value: float) -> Severity: ...
    def limit_broken(self, value: float) -> float | None: ...
    @property
    def in_order(self) -> bool: ...

class ToCurrent:
    def __init__(self) -> None: ...

class ToEarliest:
    def __init__(self) -> None: ...

class ToGroup:
    source: GroupId
    def __init__(self, source: GroupId) -> None: ...

class ToLatest:
    def __init__(self) -> None: ...

class ToOffset:
    offset: int
    def __init__(self, offset: int) -> None: ...

class ToTime:
    ms: int
    def __init__(self, ms: int) -> None: ...

class TopicLagRow(NamedTuple):
    def __new__(cls, group: str, topic: str, total_lag: int | None, max_lag: int | None, max_topic: str | None, max_partition: int | None, partitions: int, behind: int, uncommitted: int, unknown: int, ahead: int, data_lost: int, time_lag_ms: Milliseconds | None, note: str | None, known_lag: int | None = None, headroom_ms: Milliseconds | None = None, headroom_max_ms: Milliseconds | None = None, headroom_by: str | None = None, unread_min: int | None = None, unread_max: int | None = None): ...
    group: str
    topic: str
    total_lag: int | None
    max_lag: int | None
    max_topic: str | None
    max_partition: int | None
    partitions: int
    behind: int
    uncommitted: int
    unknown: int
    ahead: int
    data_lost: int
    time_lag_ms: Milliseconds | None
    note: str | None
    known_lag: int | None = None
    headroom_ms: Milliseconds | None = None
    headroom_max_ms: Milliseconds | None = None
    headroom_by: str | None = None
    unread_min: int | None = None
    unread_max: int | None = None

class UsageError(KgroupsError):
    peer: str | None
    hint: str | None
    def __init__(self, text: str = '', *, peer: str | None = None, reason: Reason | None = None, hint: str | None = None) -> None: ...
    reason: Any
    @property
    def text(self) -> str: ...
    @property
    def reference(self) -> str | None: ...
    def at(self, peer: str) -> Self: ...
    def within(self, context: str) -> Self: ...
    exit_code = 2
    default_reason = Reason.INVALID_USAGE

__version__: str
