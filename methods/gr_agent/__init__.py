"""GR-Agent (arXiv 2512.14766)."""

from .method import GrAgent

__all__ = ["GrAgent"]
