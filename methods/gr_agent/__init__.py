"""GR-Agent (arXiv 2512.14766), and a reference policy in its environment that asks no model."""

from .method import GrAgent
from .reference import GrReference

__all__ = ["GrAgent", "GrReference"]
