"""Builds question sets over incomplete graphs from mined rules."""
