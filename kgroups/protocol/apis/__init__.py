"""One file per Kafka API: the versions that we speak and what each brought, the request, and how its response reads."""
