"""What is checked of every folder that a build writes: its files, their hashes, and its three files of triples."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from kgqa_bench.domain import Triple

from .content import Named
from .package import COMPLETE, INCOMPLETE, MANIFEST, REMOVED
from .reading import at, shown


def hash_problems(folder: Path, names: Collection[str], stated: Mapping[str, str]) -> list[str]:
    """Files that are missing, not those that the manifest has the hashes of, or question files beside them.

    Args:
        folder: The folder.
        names: Its files but the manifest.
        stated: The manifest's hashes by file.
    """
    problems = []
    for name in sorted({*names, *stated}):
        if name not in stated:
            problems.append(at(MANIFEST, None, f"the hash of {name} is missing."))
        elif name not in names:
            problems.append(at(MANIFEST, None, f"{name!r} is no file of a built benchmark."))
        elif not (folder / name).is_file():
            problems.append(at(name, None, "the file is missing."))
        elif hashlib.sha256((folder / name).read_bytes()).hexdigest() != stated[name]:
            problems.append(at(name, None, f"the file is not the one that {MANIFEST} has the hash of."))
    beside = {path.name for path in folder.glob("questions.*.jsonl")} - set(names)  # would be read as a split
    return problems + [at(name, None, "no file of this benchmark.") for name in sorted(beside)]


def triple_problems(complete: Sequence[Triple], incomplete: Sequence[Triple], removed: Sequence[Triple]) -> list[str]:
    """Where the complete graph is not the incomplete one and the removed triples, each of them once."""
    problems: list[str] = []
    known = set(complete)
    for name, triples in ((COMPLETE, complete), (INCOMPLETE, incomplete), (REMOVED, removed)):
        seen: set[Named] = set()
        for line, triple in enumerate(triples, 1):
            if triple[:3] in seen:
                problems.append(at(name, line, f"the triple {shown(triple)} is there twice."))
            seen.add(triple[:3])
            if name != COMPLETE and triple not in known:
                problems.append(at(name, line, f"the triple {shown(triple)} is not in {COMPLETE}."))
    gone = {triple[:3] for triple in removed}
    left = {triple[:3] for triple in incomplete}
    for line, triple in enumerate(incomplete, 1):
        if triple[:3] in gone:
            problems.append(at(INCOMPLETE, line, f"the removed triple {shown(triple)} is there."))
    for line, triple in enumerate(complete, 1):
        if triple[:3] not in gone and triple[:3] not in left:
            problems.append(at(COMPLETE, line, f"the triple {shown(triple)} is in neither of the other two files."))
    return problems
