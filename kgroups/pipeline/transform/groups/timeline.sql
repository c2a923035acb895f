-- All states of all groups up to the end of the span: the columns of group_states. A group has one timeline for all group types:
-- a conversion to another type (KIP-848) is one operation of the coordinator.
with written as (
  select `group`, kind, log_partition, log_offset, log_time, state from modern_records where state is not null
  union all
  select `group`, kind, log_partition, log_offset, log_time, state from classic_snapshots
),
operations as (
  select *
  from written
  qualify coalesce(lead(log_time) over (partition by `group` order by log_partition, log_offset) <> log_time, true)
),
changes as (
  select *
  from operations
  qualify
    coalesce(
      kind <> lag(kind) over (partition by `group` order by log_partition, log_offset)
      or state <> lag(state) over (partition by `group` order by log_partition, log_offset),
      true
    )
),
intervals as (
  select *, lead(log_time) over (partition by `group` order by log_partition, log_offset) as next_time from changes
),
marked as (
  select
    *,
    -- A group that a complete sweep does not find is dead, whatever its last known state.
    next_time is null and state <> 'Dead' and gone_at is not null as vanished,
    -- After the last record read, only a later sweep shows that it does not exist.
    case
      when next_time is null and unread_since is not null and not coalesce(gone_at >= unread_since, false)
        then greatest(unread_since, log_time)
    end as hidden_since
  from intervals
  left join gone_groups using (`group`)
  left join unread_groups using (`group`)
)
select
  `group`,
  kind,
  state,
  log_time as since,
  case when vanished then gone_at else coalesce(next_time, hidden_since) end as until,
  'log' as source
from marked
union all
select `group`, kind, 'Dead' as state, gone_at as since, hidden_since as until, 'baseline' as source
from marked
where vanished
union all
select `group`, kind, 'Unknown' as state, hidden_since as since, null as until, 'unread' as source
from marked
where hidden_since is not null
