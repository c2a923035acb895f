-- The intervals of membership in classic groups: one from each continuous run of snapshots with a member.
with present as (
  select
    classic_snapshots.`group`,
    classic_snapshots.log_partition,
    classic_snapshots.log_time,
    snapshot,
    next_time,
    begins,
    follows,
    is_followed,
    member_id,
    instance_id,
    client_id,
    client_host,
    snapshot - row_number() over (partition by classic_snapshots.`group`, member_id order by snapshot) as stay
  from classic_snapshots
  join members using (log_partition, log_offset)
  where members.kind = 'classic' and member_id is not null
),
numbered as (
  select
    *,
    row_number() over (partition by `group`, member_id, stay order by snapshot) as from_first,
    row_number() over (partition by `group`, member_id, stay order by snapshot desc) as from_last
  from present
)
select
  `group`,
  'classic' as kind,
  member_id,
  max(case when from_last = 1 then instance_id end) as instance_id,
  max(case when from_last = 1 then client_id end) as client_id,
  max(case when from_last = 1 then client_host end) as client_host,
  max(case when from_first = 1 then log_partition end) as log_partition,
  max(case when from_first = 1 then log_time end) as since,
  max(case when from_last = 1 then next_time end) as until,
  bool_or(from_first = 1 and (snapshot > 1 or begins) and follows) as begins,
  bool_or(from_last = 1 and (next_time is null or is_followed)) as ends
from numbered
group by `group`, member_id, stay
