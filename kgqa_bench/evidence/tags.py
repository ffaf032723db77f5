"""Constrained paths as a model writes them: strict writing, tolerant reading (appendix B.1).

    <PATH confidence=0.75>sibling_of<CONSTRAINT>gender<SEP>male</CONSTRAINT></PATH>

What is read comes from a model: nothing in it is taken for granted, and nothing is made up. What cannot be read is
left out and counted by reason, and a confidence that is not there stays None.
"""

from __future__ import annotations

import math
import re
from typing import Literal, NamedTuple

from kgqa_bench.evidence.path import ConstrainedPath, Constraint, PathStep, ScoredPath, read_step

Reason = Literal[
    "no_path",  # text without any <PATH …>
    "no_relation",  # a path without a step
    "empty_relation",  # nothing between two <SEP>
    "bad_constraint",  # not one relation and one entity
    "several_constraints",
    "text_after_constraint",
    "no_confidence",  # the path is kept, without one
    "unreadable_confidence",  # likewise
    "clipped_confidence",  # it was outside [0, 1], and is 0 or 1 now
]
KEPT: frozenset[Reason] = frozenset({"no_confidence", "unreadable_confidence", "clipped_confidence"})
"""Problems of paths that are kept."""

_TAG = re.compile(r"<\s*(/?)\s*(PATH|SEP|CONSTRAINT)\b([^<>]*)>", re.IGNORECASE)
_CONFIDENCE = re.compile(r"confidence\s*[=:]\s*[\"'“”‘’`]*\s*([^\s\"'“”‘’`]*)", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


class Problem(NamedTuple):
    """What is wrong with a piece of text, and the piece."""

    reason: Reason
    text: str


class ReadPaths(NamedTuple):
    """What a text holds: the paths that could be read, in its order, and what was wrong with it."""

    paths: tuple[ScoredPath, ...]
    problems: tuple[Problem, ...]


def write_path(path: ConstrainedPath, confidence: float | None = None, decimals: int = 2) -> str:
    """The path between its tags.

    Args:
        path: The path.
        confidence: In [0, 1]; None leaves it out.
        decimals: Of the confidence.

    Raises:
        ValueError: A name cannot be read back (see ``can_be_written``), the path has no step, or the confidence is
            not in [0, 1].
    """
    if not path.steps:
        raise ValueError("A path has at least one step.")
    for name in path.items:
        if not can_be_written(name):
            raise ValueError(f"{name!r} cannot stand between tags.")
    if any(not can_be_written(step.relation) for step in path.steps):
        raise ValueError("A step has no relation.")
    opening = "<PATH>"
    if confidence is not None:
        if not 0 <= confidence <= 1:
            raise ValueError(f"The confidence {confidence} is not in [0, 1].")
        opening = f"<PATH confidence={confidence:.{decimals}f}>"
    constraint = ""
    if path.constraint is not None:
        constraint = f"<CONSTRAINT>{path.constraint.step}<SEP>{path.constraint.entity}</CONSTRAINT>"
    return f"{opening}{'<SEP>'.join(path.relations)}{constraint}</PATH>"


def can_be_written(name: str) -> bool:
    """Whether a name can be read back: on one line, no space around it, not empty, and no tag of ours in it."""
    return name.isprintable() and name == name.strip() and name != "" and _TAG.search(name) is None


def read_paths(text: str) -> ReadPaths:
    """All paths in a text.

    Spaces around tags and names, quotes around the confidence, tags in small letters, and closing tags that are
    missing do not matter; text outside of paths is passed over.
    """
    tags = list(_TAG.finditer(text))
    openings = [at for at, tag in enumerate(tags) if tag[2].upper() == "PATH" and not tag[1]]
    if not openings:
        return ReadPaths((), (Problem("no_path", text),))
    paths: list[ScoredPath] = []
    problems: list[Problem] = []
    for at, following in zip(openings, [*openings[1:], len(tags)], strict=True):
        piece = _Piece(text, tags[at:following], tags[following].start() if following < len(tags) else len(text))
        path = piece.read()
        if not isinstance(path, ConstrainedPath):
            problems.append(Problem(path, piece.text))
            continue
        confidence, reason = _confidence(tags[at][3])
        if reason is not None:
            problems.append(Problem(reason, piece.text))
        paths.append(ScoredPath(path, confidence))
    return ReadPaths(tuple(paths), tuple(problems))


class _Piece:
    """From one <PATH …> to its </PATH>, or to the next path or the end of the text."""

    def __init__(self, text: str, tags: list[re.Match[str]], end: int) -> None:
        self.parts: list[tuple[str, str]] = []  # a tag, and the text up to the next one
        for at, tag in enumerate(tags):
            kind = f"{tag[1]}{tag[2].upper()}"
            if kind == "/PATH":
                end = tag.end()
                break
            until = tags[at + 1].start() if at + 1 < len(tags) else end
            self.parts.append((kind, text[tag.end() : until].strip()))
        self.text = text[tags[0].start() : end]

    def read(self) -> ConstrainedPath | Reason:
        """The path, or why there is none."""
        relations: list[str] = []
        constraints: list[list[str]] = []
        state: Literal["path", "constraint", "after"] = "path"
        for kind, content in self.parts:
            if kind == "CONSTRAINT":
                constraints.append([content])
                state = "constraint"
            elif kind == "/CONSTRAINT":
                state = "after"
                if content:
                    return "text_after_constraint"
            elif state == "after":
                return "text_after_constraint"
            elif state == "constraint":
                constraints[-1].append(content)
            else:
                relations.append(content)
        if not any(relations):
            return "no_relation"
        steps = tuple(map(read_step, relations))
        if not all(step.relation for step in steps):
            return "empty_relation"
        constraints = [constraint for constraint in constraints if any(constraint)]
        if len(constraints) > 1:
            return "several_constraints"
        constraint = _constraint(constraints[0]) if constraints else None
        if constraints and constraint is None:
            return "bad_constraint"
        return ConstrainedPath(steps, constraint)


def _constraint(parts: list[str]) -> Constraint | None:
    if len(parts) != 2:
        return None
    step: PathStep = read_step(parts[0])
    return Constraint(step, parts[1]) if step.relation and parts[1] else None


def _confidence(attributes: str) -> tuple[float | None, Reason | None]:
    """The confidence within an opening tag, and what is wrong with it."""
    found = _CONFIDENCE.search(attributes)
    if found is None or not found[1]:
        return None, "no_confidence"
    written = found[1].rstrip("/,;")
    percent = written.endswith("%")
    if _NUMBER.fullmatch(written.removesuffix("%")) is None:
        return None, "unreadable_confidence"
    value = float(written.removesuffix("%")) / (100 if percent else 1)
    clipped = min(max(value, 0.0), 1.0)
    return clipped, None if math.isclose(clipped, value) else "clipped_confidence"
