"""From model to text. Rule: what the cluster said is escaped before a terminal sees it, and nothing heavy is loaded."""
