-- All states of all groups up to the end of the span: the columns of group_states. A group has one timeline for all group types:
-- a conversion to another type (KIP-848) is one operation of the coordinator. A commit to a group that was deleted creates a
-- classic group without members, and the log has no other record of that.
--   by_commit  whether a commit created the group, and it has had no members since
with all_commits as (
  select `group`, log_partition, log_offset, log_time, tombstone from commits
  union all
  select `group`, log_partition, log_offset, log_time, tombstone from undecoded_commits
),
written as (
  select `group`, kind, log_partition, log_offset, log_time, state, case when state = 'Dead' then true end as is_whole
  from modern_records
  where state is not null
  union all
  select `group`, kind, log_partition, log_offset, log_time, state, true as is_whole from classic_snapshots
  union all
  select `group`, kind, log_partition, log_offset, log_time, 'Unknown' as state, false as is_whole from undecoded_groups
),
-- From a record that cannot be decoded to the next one that shows the whole state.
clear as (
  select
    *,
    last_value(is_whole ignore nulls) over (
      partition by `group` order by log_partition, log_offset rows between unbounded preceding and current row
    ) as is_clear
  from written
),
operations as (
  select
    `group`, kind, log_partition, log_offset, log_time, case when not is_clear then 'Unknown' else state end as state
  from clear
  qualify coalesce(lead(log_time) over (partition by `group` order by log_partition, log_offset) <> log_time, true)
),
last_states as (
  select `group`, log_partition, state
  from operations
  qualify row_number() over (partition by `group` order by log_partition desc, log_offset desc) = 1
),
deaths as (
  select *, lead(log_offset) over (partition by `group` order by log_partition, log_offset) as next_offset
  from operations
  qualify state = 'Dead'
),
created as (
  select `group`, deaths.log_partition, min(all_commits.log_offset) as log_offset, cast(null as timestamptz) as missed_at
  from all_commits
  join deaths using (`group`)
  where
    all_commits.log_partition = deaths.log_partition
    and all_commits.log_offset > deaths.log_offset
    and (next_offset is null or all_commits.log_offset < next_offset)
    and all_commits.log_time < $until
    and not all_commits.tombstone
  group by `group`, deaths.log_partition, deaths.log_offset
  union all
  -- Compaction deleted the record of the deletion, but a sweep shows it.
  select `group`, all_commits.log_partition, min(all_commits.log_offset) as log_offset, missed_at
  from all_commits
  join missed_groups using (`group`)
  join last_states using (`group`)
  where
    all_commits.log_partition = last_states.log_partition
    and all_commits.log_time >= missed_at
    and all_commits.log_time < $until
    and not all_commits.tombstone
    and state <> 'Dead'
  group by `group`, all_commits.log_partition, missed_at
),
known as (
  select *, false as by_commit, cast(null as timestamptz) as missed_at from operations
  union all
  select
    `group`, 'classic' as kind, log_partition, log_offset, log_time, 'Empty' as state, true as by_commit, missed_at
  from all_commits
  join created using (`group`, log_partition, log_offset)
),
changes as (
  select *
  from known
  qualify
    coalesce(
      missed_at is not null
      or kind <> lag(kind) over (partition by `group` order by log_partition, log_offset)
      or state <> lag(state) over (partition by `group` order by log_partition, log_offset),
      true
    )
),
intervals as (
  select
    *,
    lead(log_time) over (partition by `group` order by log_partition, log_offset) as next_time,
    lead(missed_at) over (partition by `group` order by log_partition, log_offset) as next_missed_at
  from changes
),
-- Such a group ends with its last offset: older coordinators write no record of the group then.
emptied as (
  select `group`, max(coalesce(gone_at, log_time)) as emptied_at
  from last_offsets
  group by `group`
  having count(case when not tombstone and gone_at is null then 1 end) = 0
),
ended as (
  select
    intervals.*,
    case when by_commit and next_time is null and emptied_at >= log_time then emptied_at end as ended_at
  from intervals
  left join emptied using (`group`)
),
marked as (
  select
    *,
    -- A group that a complete sweep does not find is dead, whatever its last known state.
    next_time is null and state <> 'Dead' and ended_at is null and gone_at is not null as vanished,
    -- After the last record read, only a later sweep shows that it does not exist.
    case
      when next_time is null and unread_since is not null and not coalesce(gone_at >= unread_since, false)
        then greatest(unread_since, log_time, ended_at)
    end as hidden_since
  from ended
  left join gone_groups using (`group`)
  left join unread_groups using (`group`)
)
select
  `group`,
  kind,
  state,
  log_time as since,
  case when vanished then gone_at else coalesce(next_missed_at, next_time, ended_at, hidden_since) end as until,
  case when state = 'Unknown' then 'undecoded' else 'log' end as source,
  by_commit
from marked
union all
select `group`, kind, 'Dead' as state, ended_at as since, hidden_since as until, 'log' as source, false as by_commit
from marked
where ended_at is not null
union all
select `group`, kind, 'Dead' as state, gone_at as since, hidden_since as until, 'baseline' as source, false as by_commit
from marked
where vanished
union all
select
  `group`, kind, 'Dead' as state, next_missed_at as since, next_time as until, 'baseline' as source, false as by_commit
from marked
where next_missed_at is not null
union all
select `group`, kind, 'Unknown' as state, hidden_since as since, null as until, 'unread' as source, false as by_commit
from marked
where hidden_since is not null
