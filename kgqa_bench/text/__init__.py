"""Sentence embeddings, entity linking, and graphs in words."""
