"""Readers of published graphs."""
