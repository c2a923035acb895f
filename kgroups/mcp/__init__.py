"""``kgroups mcp``: a server of the Model Context Protocol. Each of its tools is a command that only reads."""
