"""Evidence for a question as constrained relation paths (DoublyCal, arXiv 2601.11956, section 4.1).

``path``, ``tags``, ``prior``, ``grounding`` and ``retrievals`` know no gold answer; any method may use them.
``building``, ``gathering`` and ``evidence_set`` make evidence from gold answers and keep it: what they give, only a
method that declares ``uses_gold`` may see, and training.
"""
