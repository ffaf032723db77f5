"""The relations of MedKGent (Zhang et al. 2025) in words, and those that have no direction."""

from __future__ import annotations

RELATIONS = {
    "Associate": "is associated with",
    "Cause": "causes",
    "Compare": "is compared with",
    "Cotreat": "is used in treatment together with",
    "Drug_Interact": "has a drug interaction with",
    "Inhibit": "inhibits",
    "Interact": "interacts with",
    "Negative_Correlate": "is negatively correlated with",
    "Positive_Correlate": "is positively correlated with",
    "Prevent": "prevents",
    "Stimulate": "stimulates",
    "Treat": "treats",
}

UNDIRECTED = (
    "Associate",
    "Compare",
    "Cotreat",
    "Drug_Interact",
    "Interact",
    "Negative_Correlate",
    "Positive_Correlate",
)


def relation_words(name: str) -> str:
    """A relation in words; of one that is not MedKGent's the name in lower case, spaces for underscores."""
    return RELATIONS.get(name) or name.replace("_", " ").lower()
