"""What the history commands do, each job in a file: functions of a session, a store and settings."""
