"""One file per Kafka API: its supported versions, what each introduced, the request, and the response."""
