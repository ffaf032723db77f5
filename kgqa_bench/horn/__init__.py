"""Horn rules over a graph: what a rule is, its type, its measures, and files of rules."""
