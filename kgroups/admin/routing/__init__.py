"""Find the broker for each request: coordinators, leaders, batches, retries, and complete lists."""
