"""Paired comparisons on arrays: tests, intervals and what a comparison can detect at all."""
