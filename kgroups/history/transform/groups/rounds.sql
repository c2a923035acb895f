-- The rebalances of groups of every type: the columns of rebalances, without pause_ms and complete, and is_round, whether it is
-- known to be one.
with found as (
  select
    `group`, kind, round, log_partition, log_offset, log_time, generation, previous_generation, is_round, begins, members,
    protocol, leader, cast(null as bigint) as target_ms, cast(null as bigint) as converge_ms,
    joined, `left`, restarted, resubscribed
  from classic_rounds
  union all
  select
    `group`, kind, round, log_partition, log_offset, log_time, generation, previous_generation, true as is_round, begins, members,
    null as protocol, null as leader, target_ms, converge_ms,
    joined, `left`, restarted, resubscribed
  from modern_rounds
),
compared as (
  -- Members that joined are known in a group's first round, and if the previous round is known.
  select *, begins or previous_generation is not null as is_known from found
)
select
  `group`, kind, round, log_partition, log_offset, log_time, generation, previous_generation, is_round, begins, members,
  protocol, leader, target_ms, converge_ms,
  case when is_known then array_sort(coalesce(joined, [])) end as joined,
  case when is_known then array_sort(coalesce(`left`, [])) end as `left`,
  case when is_known then array_sort(coalesce(restarted, [])) end as restarted,
  case when is_known then array_sort(coalesce(resubscribed, [])) end as resubscribed
from compared
