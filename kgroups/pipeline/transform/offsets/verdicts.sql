-- Burrow's rules: https://github.com/linkedin/Burrow/wiki/Consumer-Lag-Evaluation-Rules. They are applied to samples of the
-- log end offset, not to commits: between two samples, the log end offset appears unchanged, so lag appears to shrink with
-- every commit.
with last_known as (
  select
    *,
    case when lag is not null then sampled_at end as known_at,
    last_value(committed_offset is not null or is_unread) over (
      partition by `group`, topic, partition order by sampled_at
      rows between unbounded preceding and unbounded following
    ) as has_offset
  from last_samples
),
steps as (
  select
    *,
    committed_offset < lag(committed_offset) over earlier as went_back,
    lag < lag(lag) over earlier as shrank
  from last_known
  where has_offset and (lag is not null or is_unread)
  window earlier as (partition by `group`, topic, partition order by sampled_at)
),
judged as (
  select
    `group`,
    topic,
    partition,
    count(*) as taken,
    count(lag) as samples,
    max(case when is_unread then remark end) as remark,
    coalesce(min(known_at), min(sampled_at)) as since,
    coalesce(max(known_at), max(sampled_at)) as until,
    min_by(committed_offset, known_at) as first_offset,
    max_by(committed_offset, known_at) as last_offset,
    min_by(lag, known_at) as first_lag,
    max_by(lag, known_at) as last_lag,
    max_by(committed_at, known_at) as committed_at,
    min(committed_offset) as lowest,
    max(committed_offset) as highest,
    min(lag) as least,
    coalesce(bool_or(went_back), false) as went_back,
    coalesce(bool_or(shrank), false) as shrank
  from steps
  group by `group`, topic, partition
),
found as (
  select
    *,
    case
      when samples * 2 < taken then 'UNKNOWN'
      when went_back and last_offset < highest then 'REWIND'
      when least <= 0 then 'OK'
      when taken < $samples then 'UNKNOWN'
      when committed_at <= since then 'STOP'
      when lowest = highest then 'STALL'
      when not shrank then 'WARN'
      else 'OK'
    end as status
  from judged
),
ranked as (
  select
    *,
    case status
      when 'OK' then 1 when 'UNKNOWN' then 2 when 'WARN' then 3 when 'STOP' then 4 when 'STALL' then 5 else 6
    end as severity
  from found
)
select
  *,
  first_value(status) over (
    partition by `group` order by severity desc rows between unbounded preceding and unbounded following
  ) as group_status
from ranked
