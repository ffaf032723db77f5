"""Predictions to be scored: of run directories and of other people's files, joined with their gold answers."""
