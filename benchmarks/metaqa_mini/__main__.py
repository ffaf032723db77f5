"""Makes the files of metaqa-mini: ``python -m kgqa_bench.benchmarks.metaqa_mini FOLDER``."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import orjson

from kgqa_bench.storage import atomic_write

from .films import film_triples
from .questions import Asked, ask

SEED = 7
MOST_ANSWERS = 9
SIZES = {"test": 20, "validation": 10, "train": 30}
"""Questions a number of hops."""


def build(out: Path) -> None:
    """Write graph and questions into the folder ``out``, which is made where it is missing."""
    out.mkdir(parents=True, exist_ok=True)
    triples = film_triples(SEED)
    with atomic_write(out / "graph.tsv") as stream:
        stream.write("".join("\t".join(triple) + "\n" for triple in triples).encode())
    asked = ask(triples, MOST_ANSWERS, random.Random(SEED))
    begin = 0
    for split, size in SIZES.items():
        with atomic_write(out / f"questions.{split}.jsonl") as stream:
            for hops, found in sorted(asked.items()):
                for number, question in enumerate(found[begin : begin + size], 1):
                    stream.write(orjson.dumps(_row(question, f"{split}-{hops}hop-{number:02}", hops)) + b"\n")
        begin += size


def _row(asked: Asked, name: str, hops: int) -> dict[str, object]:
    return {
        "id": name,
        "kind": "entities",
        "question": asked.text,
        "topic_entities": [asked.topic],
        "answer": asked.answers,
        "meta": {"question_type": asked.kind.name, "hops": hops},
    }


if __name__ == "__main__":
    build(Path(sys.argv[1]))
