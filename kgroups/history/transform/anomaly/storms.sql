-- Storms: too many rebalances of a group in a short time that growth, shrinkage, and one restart of each member do not explain.
-- These are those in which a member that came and went leaves, or the next one comes; and those without a change of members, except
-- two after each change, as cooperative protocols need them. One row for as long as it lasts.
with changes as (
  select
    *,
    epoch_us(log_time) as at_us,
    coalesce(joined <> [], false) as came,
    coalesce(joined = [] and `left` = [] and restarted = [], false) as is_same
  from rounds
  where is_round
),
returned as (
  select `group`, at_us
  from (
    select `group`, at_us, came, lag(came) over (partition by `group` order by at_us, came) as previous_came
    from (
      select `group`, at_us, false as came from returns
      union all
      select `group`, at_us, came from changes where came
    ) as moves
  ) as compared
  where not came or not previous_came
),
counted as (
  select
    *,
    sum(case when is_same then 0 else 1 end) over (
      partition by `group` order by round rows between 2 preceding and current row
    ) as changed
  from changes
),
restless as (
  select `group`, at_us, log_time, is_same from counted semi join returned using (`group`, at_us)
  union all
  select `group`, at_us, log_time, is_same
  from counted
  anti join returned using (`group`, at_us)
  where changed = 0
),
crowded as (
  select
    *,
    count(*) over (
      partition by `group` order by at_us range between $storm_window_us preceding and current row
    ) as near,
    min(log_time) over (
      partition by `group` order by at_us range between $storm_window_us preceding and current row
    ) as since
  from restless
),
bursts as (
  select
    *,
    sum(case when near < $storm then 1 else 0 end) over (
      partition by `group` order by log_time rows between unbounded preceding and current row
    ) as burst
  from crowded
)
select
  'rebalance_storm' as anomaly,
  `group`,
  min(since) as since,
  max(log_time) as until,
  $storm as expected,
  max(near) as found,
  max(near) || ' rebalances within ' || $storm_window_text
  || case when bool_and(is_same) then ', without a change of members' else ', in which members come and go' end as note
from bursts
where near >= $storm and log_time >= $since
group by `group`, burst
