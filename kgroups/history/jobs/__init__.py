"""The jobs of the history commands, one per file: functions of a session, a store, and settings."""
