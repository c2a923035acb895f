-- The rebalances of classic groups, compared with the previous one. The records of a member are ordered by round: a member that
-- is not in the previous round joined in this one; one that is not in the next round left in that one, which may not exist.
with changes as (
  select
    *,
    row_number() over (partition by `group` order by log_partition, log_offset) as round,
    not tombstone as rebalanced
  from classic_snapshots
  where
    tombstone
    -- Generation 0: no member has joined the group yet.
    or (generation > 0 and (previous_generation is null or generation <> previous_generation))
),
present as (
  select
    changes.`group`,
    round,
    member_id,
    -- Static members are identified by their instance ID, others by their member ID.
    coalesce('i' || instance_id, 'm' || member_id) as identity,
    array_sort(topics) as topics
  from changes
  join members using (log_partition, log_offset)
  where members.kind = 'classic'
),
compared as (
  select
    `group`,
    round,
    member_id,
    coalesce(lag(round) over member = round - 1, false) as was_member,
    coalesce(lead(round) over member = round + 1, false) as remains,
    lag(member_id) over member <> member_id as renamed,
    lag(topics) over member <> topics as resubscribed
  from present
  window member as (partition by `group`, identity order by round)
),
events as (
  select `group`, round, 'joined' as event, member_id from compared where not was_member
  union all
  select `group`, round, 'restarted' as event, member_id from compared where was_member and renamed
  union all
  select `group`, round, 'resubscribed' as event, member_id from compared where was_member and resubscribed
  union all
  select `group`, round + 1 as round, 'left' as event, member_id from compared where not remains
),
lists as (
  select
    `group`,
    round,
    array_agg(member_id) filter (where event = 'joined') as joined,
    array_agg(member_id) filter (where event = 'left') as `left`,
    array_agg(member_id) filter (where event = 'restarted') as restarted,
    array_agg(member_id) filter (where event = 'resubscribed') as resubscribed
  from events
  group by `group`, round
)
select
  `group`,
  kind,
  round,
  log_partition,
  log_offset,
  log_time,
  generation,
  previous_generation,
  is_round,
  begins,
  member_count as members,
  protocol,
  leader,
  joined,
  `left`,
  restarted,
  resubscribed
from changes
left join lists using (`group`, round)
where rebalanced
