"""A Kafka that misbehaves on demand."""

from . import newer_schemas  # noqa: F401  # kio, which the fakes speak with, is to know them
