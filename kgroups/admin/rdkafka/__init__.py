"""The questions over librdkafka, one group a request. ``client.py`` alone imports confluent_kafka."""
