"""Question answering over knowledge graphs with language models: methods, benchmarks, scores."""

__version__ = "0.1.0"
