"""Changes to groups: their plans, plan and undo files, and results."""
