"""The declarations of the commands, one module for each: options, help, examples, exit codes, and completions.

The name of a module is that of its command, and its docstring is the help. ``_change_options`` is no command.
"""
