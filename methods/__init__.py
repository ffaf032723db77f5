"""Methods, one folder each."""
