"""Answers reduced to a normal form before they are compared as text: the form that most KGQA scorers share."""

from __future__ import annotations

import re
import string

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normal_form(text: str) -> str:
    """Lower case; ASCII punctuation deleted; the words a, an, the taken out; runs of white space made one space.

    The rule of RoG (``src/qa_prediction/evaluate_results.py``, ccf8ec8), taken over by GNN-RAG, GCR, G-Retriever and
    SubgraphRAG. It means to remove ``<pad>`` too, but by then the angle brackets are gone and ``pad`` stays. Accents
    stay.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())
