"""Where a group continues on another cluster: from facts about both logs to an offset. Pure."""
