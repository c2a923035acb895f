-- The groups that a complete sweep did not find, after their last record other than commits: missed_at is the first such sweep.
-- Later commits create the group again, as a classic group without members.
with looks as (
  select swept_at from baseline where complete and swept_at < $until
  union
  select swept_at from sweeps where complete and swept_at < $until
),
asked as (
  select `group`, swept_at
  from last_events
  left join last_swept using (`group`)
  join looks on swept_at > last_event
  -- A group that commits created has no members.
  where coalesce(swept_state, 'Empty') in ('Empty', 'Dead')
)
select `group`, min(swept_at) as missed_at
from asked
anti join baseline using (`group`, swept_at)
group by `group`
