"""Published and home-made KGQA question sets in one form: readers that stream, without loading any graph."""
