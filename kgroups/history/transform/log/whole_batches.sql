-- The batches after which all partitions of the log were read.
-- A batch has a range of each partition with new records: if its ranges reach the last stable offset, all partitions are read.
select sampled_at
from log_looks
group by sampled_at
having bool_and(coalesce(batch_complete, is_batch and is_end))
