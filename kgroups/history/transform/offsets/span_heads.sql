-- The samples in the span.
select * from marked_heads where sampled_at >= $since
