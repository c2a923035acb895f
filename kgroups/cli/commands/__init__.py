"""The declarations of the commands, one module for each: options, help, examples, exit codes, and completions."""
