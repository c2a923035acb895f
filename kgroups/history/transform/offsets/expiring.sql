-- KIP-211, and the coordinators of the newer group types: while a group has members, only offsets of topics that no member
-- subscribes to expire, one by one, counted from the commit. Without members, the offsets of a classic group expire together,
-- counted from when it became empty; those of other types, and of groups that never had members, one by one, counted from the
-- commit. The expiry time in a commit, if any, takes precedence.
with empty_groups as (
  -- Brokers count from the time in the value of the record (Kafka 2.1), not from its timestamp.
  select `group`, kind, state, state_time as counted
  from classic_snapshots
  where next_time is null and state = 'Empty'
),
standing as (
  select `group`, state, counted, coalesce(counted, case when state = 'Empty' and not by_commit then since end) as empty_since
  from timeline
  left join empty_groups using (`group`, kind, state)
  where until is null
),
found as (
  select
    last_offsets.*,
    empty_since,
    retention_ms,
    retention_source,
    case when expire_time is not null then 'expire_time' when counted is not null then 'empty' else 'commit' end as counted_from,
    coalesce(expire_time, make_timestamptz(epoch_us(coalesce(counted, commit_time)) + retention_ms * 1000)) as expires_at
  from last_offsets
  left join standing using (`group`)
  left join last_swept using (`group`)
  left join left_topics using (`group`, topic)
  anti join unread_groups using (`group`)
  cross join retention
  where
    not tombstone
    -- Whether the record has an expiry time is unknown.
    and not is_undecoded
    and gone_at is null
    and source = 'log'
    -- Without a state in the log, only commits of the group are known: the last sweep may have its state.
    and (coalesce(state, swept_state, 'Empty') in ('Empty', 'Dead') or left_topics.topic is not null)
)
select *, (epoch_us(expires_at) - epoch_us($until)) // 1000 as left_ms
from found
where epoch_us(expires_at) < epoch_us($until) + $expiring_within_us
