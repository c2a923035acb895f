select
  anomaly, `group`, since, until, topic, partition, null as member, log_partition, log_offset, expected, found, note
from rewinds
union all
select anomaly, `group`, since, until, topic, partition, null, null, null, expected, found, note
from misplaced
union all
select anomaly, `group`, since, until, null, null, null, null, null, expected, found, note
from storms
union all
select anomaly, `group`, since, until, null, null, member, null, null, expected, found, note
from flapping
union all
select anomaly, null, since, until, null, null, null, log_partition, null, expected, found, note
from gaps
