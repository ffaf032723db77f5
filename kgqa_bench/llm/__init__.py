"""The gateway to language models."""
