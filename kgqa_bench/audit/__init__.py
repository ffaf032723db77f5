"""The audit of KGQA question sets: what is wrong with a set and its graph, and how it is distributed."""
