"""The commands. Only this package imports click; expensive modules are imported when a command runs."""
