"""Debate-on-Graph (DoG): reliable and adaptive reasoning over an uncertain knowledge graph (arXiv 2607.17266)."""

from .method import DebateOnGraph

__all__ = ["DebateOnGraph"]
