-- Burrow's rules: https://github.com/linkedin/Burrow/wiki/Consumer-Lag-Evaluation-Rules. They are applied to samples of the
-- log end offset, not to commits: between two samples, the log end offset appears unchanged, so lag appears to shrink with
-- every commit. As in kgroups/model/rates.py, no sample is compared with one of another log, or of deleted offsets; a direction
-- follows from the lag at two samples since offsets last went back; and a lag that is read in 10 s is usual.
with known as (
  select
    *,
    case when lag is not null then sampled_at end as known_at,
    last_value(committed_offset is not null or is_unread) over (
      partition by `group`, topic, partition order by sampled_at
      rows between unbounded preceding and unbounded following
    ) as has_offset,
    coalesce(life <> lag(life) over earlier, false)
    or coalesce(topic_id <> lag(topic_id) over earlier, false)
    or coalesce(lag(committed_offset is null and not is_unread) over earlier, false) as broke
  from last_samples
  window earlier as (partition by `group`, topic, partition order by sampled_at)
),
last_known as (
  select *
  from known
  qualify
    coalesce(
      sum(case when broke then 1 else 0 end) over (
        partition by `group`, topic, partition order by sampled_at rows between 1 following and unbounded following
      ),
      0
    )
    = 0
),
compared as (
  select *, coalesce(committed_offset < lag(committed_offset) over earlier, false) as went_back
  from last_known
  where has_offset and (lag is not null or is_unread)
  window earlier as (partition by `group`, topic, partition order by sampled_at)
),
steps as (
  select
    *,
    -- The samples since offsets last went back: others show no direction.
    case
      when
        coalesce(
          sum(case when went_back then 1 else 0 end) over (
            partition by `group`, topic, partition order by sampled_at rows between 1 following and unbounded following
          ),
          0
        )
        = 0
        then known_at
    end as steady_at,
    not went_back and lag < lag(lag) over earlier as shrank
  from compared
  window earlier as (partition by `group`, topic, partition order by sampled_at)
),
judged as (
  select
    `group`,
    topic,
    partition,
    count(*) as taken,
    count(lag) as samples,
    max(case when is_unread then remark end) as unread_remark,
    coalesce(min(known_at), min(sampled_at)) as since,
    coalesce(max(known_at), max(sampled_at)) as until,
    min_by(committed_offset, known_at) as first_offset,
    max_by(committed_offset, known_at) as last_offset,
    min_by(lag, known_at) as first_lag,
    max_by(lag, known_at) as last_lag,
    max_by(committed_at, known_at) as committed_at,
    max_by(is_ahead, known_at) as is_ahead,
    max_by(is_undecoded, sampled_at) as is_undecoded,
    min(committed_offset) as lowest,
    max(committed_offset) as highest,
    bool_or(lag <= 0 and not is_ahead) as was_read,
    bool_or(went_back) as went_back,
    coalesce(bool_or(shrank and steady_at is not null), false) as shrank,
    count(steady_at) as steady,
    min_by(committed_offset, steady_at) as steady_offset,
    min_by(lag, steady_at) as steady_lag,
    epoch_us(max(steady_at)) - epoch_us(min(steady_at)) as steady_us
  from steps
  group by `group`, topic, partition
),
found as (
  select
    *,
    case
      when is_ahead then 'committed beyond the end of the log'
      when unread_remark is not null then unread_remark
      when epoch_us($until) - epoch_us(until) > $stale_after_us
        then 'unknown: the last sample is older than the rule stale-after'
    end as remark,
    case
      when epoch_us($until) - epoch_us(until) > $stale_after_us then 'UNKNOWN'
      when samples * 2 < taken or is_undecoded then 'UNKNOWN'
      when went_back and last_offset < highest then 'REWIND'
      when is_ahead then 'UNKNOWN'
      when was_read then 'OK'
      when taken < $samples then 'UNKNOWN'
      when committed_at <= since then 'STOP'
      when lowest = highest then 'STALL'
      when shrank then 'OK'
      when steady < 2 then 'UNKNOWN'
      when
        last_lag > steady_lag
        and cast(last_lag as double) * steady_us > cast(last_offset - steady_offset as double) * 10000000
        then 'WARN'
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
