"""The Horn-rule miner with AMIE3's semantics."""
