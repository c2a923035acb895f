-- The finished buckets in which history has become incomplete since: which commits are unknown there is not materialized.
select written.*
from finished_buckets as written
join completeness using (log_partition)
where
  bucket >= $bucket_since
  and written.known_since is distinct from completeness.known_since
  and epoch_us(completeness.known_since) < epoch_us(bucket) + $bucket_us
