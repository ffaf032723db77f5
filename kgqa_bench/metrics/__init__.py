"""Scores, one file a metric."""
