"""Query groups over librdkafka, one group per request. Only ``client.py`` imports confluent_kafka."""
