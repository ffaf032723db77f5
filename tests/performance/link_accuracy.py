"""How often the reference policy linked the relation that a built question was made of, from finished runs.

python tests/performance/link_accuracy.py RUN …
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """Print the share of questions with the right relation, and with the right relation and side of the topic."""
    for run in map(Path, sys.argv[1:]):
        rows = [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]
        relation = side = 0
        for row in rows:
            head, asked_for, _tail, _confidence = row["derivation"]["removed"]
            trace = row["trace"]
            right = trace.get("relation") == asked_for
            relation += right
            side += right and trace.get("asked") == ("tail" if head in trace["topic_entities"] else "head")
        print(f"{run}: {len(rows)} questions, relation {relation / len(rows):.3f}, and side {side / len(rows):.3f}")


if __name__ == "__main__":
    main()
