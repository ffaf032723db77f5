"""ONE graph abstraction: a directed multigraph of quadruples (head, relation, tail, confidence)."""
