"""From question to record."""
