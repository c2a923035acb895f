-- The rebalances of the newer group types: new epochs, compared with the previous one.
with events as (
  -- A coordinator first writes the changed member, then the resulting epoch.
  select *, round + case when event is null then 0 else 1 end as in_round from modern_records
),
-- A static member that is replaced: the same instance with another member ID.
replaced as (
  select distinct came.`group`, came.kind, came.in_round, came.member_id as new_member, went.member_id as old_member
  from events as came
  join events as went
    on came.`group` = went.`group` and came.kind = went.kind and came.in_round = went.in_round
      and came.instance_id = went.instance_id
  where came.event = 'joined' and went.event = 'left' and came.member_id <> went.member_id
),
changes as (
  select
    events.`group`,
    events.kind,
    events.in_round,
    member_id,
    case
      when event = 'joined' and exists (
        select 1 from replaced
        where replaced.`group` = events.`group` and replaced.kind = events.kind
          and replaced.in_round = events.in_round and replaced.new_member = events.member_id
      ) then 'restarted'
      when event = 'left' and exists (
        select 1 from replaced
        where replaced.`group` = events.`group` and replaced.kind = events.kind
          and replaced.in_round = events.in_round and replaced.old_member = events.member_id
      ) then 'replaced'
      else event
    end as event
  from events
  where event is not null
),
lists as (
  select
    `group`,
    kind,
    in_round,
    count(case when event in ('joined', 'restarted') then 1 end) as came,
    array_agg(member_id) filter (where event = 'joined') as joined,
    array_agg(member_id) filter (where event = 'left') as `left`,
    array_agg(member_id) filter (where event = 'restarted') as restarted,
    array_agg(member_id) filter (where event = 'resubscribed') as resubscribed
  from changes
  group by `group`, kind, in_round
),
times as (
  select
    `group`,
    kind,
    round as in_round,
    min(case when subject = 'target' and epoch >= group_epoch then log_time end) as targeted_at,
    min(case when state = 'Stable' then log_time end) as converged_at
  from events
  where event is null
  group by `group`, kind, round
)
select
  `group`,
  kind,
  in_round as round,
  log_partition,
  log_offset,
  log_time,
  group_epoch as generation,
  nullif(previous_epoch, -1) as previous_generation,
  -- A group begins with one member, at epoch 1, or 2 with newer brokers (4.3); otherwise compaction deleted the previous epoch.
  (group_epoch <= 2 or coalesce(previous_epoch = -1, false)) and coalesce(came, 0) = 1 as begins,
  members,
  (epoch_us(targeted_at) - epoch_us(log_time)) // 1000 as target_ms,
  (epoch_us(converged_at) - epoch_us(log_time)) // 1000 as converge_ms,
  joined,
  `left`,
  restarted,
  resubscribed
from events
left join times using (`group`, kind, in_round)
left join lists using (`group`, kind, in_round)
where bumped
