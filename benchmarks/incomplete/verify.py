"""Re-checks a built benchmark from its files alone; nothing that they say is taken on trust.

Sets made incomplete without regard to rules are left to ``verify_degraded``. What is checked of every other folder:
the hashes; that all files say the same, in the one form they are written in; that the complete graph is the
incomplete one and the removed triples, and is the graph it was built from; the map of labels; the rules' counts; a
certificate for every removed triple, with a body that is a grounding of its rule and still in the graph; and of every
question its words, answers, hard answers, derivation and split.

A folder of the released mode is held to what the published procedure says: answers are all tails of the removed
triple's head, and the split is one of rows. That its answers are partly those of another question, and that its
splits share triples, is what ``audit`` shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast, get_args

from kgqa_bench.errors import ConfigError, DataError, KgqaBenchError
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.horn.rule import MinedRule, Rule

from .content import Certificate, Content, Named
from .figures import measured_figures, named_graph
from .labels import LabelScheme, entity_labels
from .package import (
    CARD,
    CERTIFICATE,
    COMPLETE,
    FILES,
    LABELS,
    MANIFEST,
    RELATIONS,
    REMOVED,
    RULES,
    render_files,
)
from .reading import HEADER_LINES, PackageFiles, at, read_files, read_manifest, shown
from .verify_degraded import is_degraded, verify_degraded
from .verify_files import hash_problems, triple_problems
from .verify_questions import grounds, question_problems

Measure = Callable[[Graph, Sequence[Rule]], list[MinedRule]]


def verify_folder(folder: Path, measure: Measure | None = None) -> list[str]:
    """Everything that is wrong with a built folder, as ``FILE, line N: what``; empty where nothing is.

    Args:
        folder: The folder.
        measure: Counts rules on a graph; the native miner by default.
    """
    if is_degraded(folder):
        return verify_degraded(folder)
    try:
        manifest = read_manifest(folder)
    except KgqaBenchError as problem:
        return [str(problem)]
    problems = hash_problems(folder, FILES, manifest.files)
    try:
        files = read_files(folder)
    except KgqaBenchError as problem:
        return [*problems, str(problem)]
    triples = triple_problems(files.complete, files.incomplete, files.removed)
    labels = _label_problems(files)
    problems += [*triples, *labels]
    if not labels:
        try:
            problems += _form_problems(folder, files)
            problems += _source_problems(files.content)
            problems += _rule_problems(files.content, measure or _native_measure)
        except (ConfigError, DataError) as problem:
            problems.append(str(problem))
    problems += _certificate_problems(files)
    problems += question_problems(files.content)
    return problems


def _native_measure(graph: Graph, rules: Sequence[Rule]) -> list[MinedRule]:
    from kgqa_bench import registry
    from kgqa_bench.contracts import Miner

    miner: Miner = registry.create("miners", "native")
    return miner.measure(graph, rules)


def _label_problems(files: PackageFiles) -> list[str]:
    content = files.content
    problems: list[str] = []
    labels: dict[str, int] = {}
    ids: dict[str, int] = {}
    for line, (label, name, _text) in enumerate(content.entities, 1 + HEADER_LINES):
        for value, seen, what in ((label, labels, "label"), (name, ids, "id")):
            if seen.setdefault(value, line) != line:
                problems.append(at(LABELS, line, f"the {what} {value!r} is in line {seen[value]} too."))
    for line, triple in enumerate(files.complete, 1):
        for label in (triple.head, triple.tail):
            if label not in labels:
                problems.append(at(COMPLETE, line, f"the entity {label!r} is not in {LABELS}."))
        if triple.relation not in content.relations:
            problems.append(at(COMPLETE, line, f"the relation {triple.relation!r} is not in {RELATIONS}."))
    return problems


def _source_problems(content: Content) -> list[str]:
    """Whether it is the graph that the manifest names, and its entities are called as the seed has it."""
    relations = sorted(content.relations)
    graph = named_graph(content.complete, content.entities, relations, content.relations, by="id")
    problems = []
    if graph.fingerprint != content.source_fingerprint:
        what = f"the complete graph, by the ids of {LABELS}, is not the one of the source_fingerprint in {MANIFEST}."
        problems.append(at(LABELS, None, what))
    scheme, seed = content.settings.get("labels"), content.settings.get("seed")
    if scheme not in get_args(LabelScheme) or not isinstance(seed, int):
        problems.append(at(MANIFEST, None, f"settings: labels {scheme!r} and seed {seed!r} are not possible."))
        return problems
    names = map(graph.entity_name, range(graph.num_entities))
    drawn = dict(zip(names, entity_labels(graph, cast(LabelScheme, scheme), seed), strict=True))
    for line, (label, name, _text) in enumerate(content.entities, 1 + HEADER_LINES):
        if drawn[name] != label:
            what = f"the {scheme} label of {name!r} by seed {seed} is {drawn[name]!r}, not {label!r}."
            problems.append(at(LABELS, line, what))
    return problems


def _form_problems(folder: Path, files: PackageFiles) -> list[str]:
    """Whether writing the content again gives the same files, and counting it the same figures."""
    content = files.content
    measured = measured_figures(content)
    problems = []
    stated = {key: value for key, value in files.manifest.figures.items() if key != "build"}
    if set(stated) != set(measured):
        problems.append(at(MANIFEST, None, "the figures are not those of a built benchmark."))
    for key, value in measured.items():
        if stated.get(key) != value:
            what = f"figures: {key} is {stated.get(key)!r}, but the files give {value!r}."
            problems.append(at(MANIFEST, None, what))
    for name, data in render_files(content, {**measured, "build": dict(content.figures)}).items():
        if name == MANIFEST or not (folder / name).is_file():
            continue  # the manifest's parts and its hashes are checked one by one, missing files are told there
        there = (folder / name).read_bytes()
        if data == there:
            continue
        line = _first_difference(data, there)
        what = "not what the figures give." if name == CARD else "not what the other files give, or not in its form."
        problems.append(at(name, line, what))
    return problems


def _first_difference(one: bytes, other: bytes) -> int:
    lines, others = one.split(b"\n"), other.split(b"\n")
    pairs = zip(lines, others, strict=False)
    return next((n for n, (a, b) in enumerate(pairs, 1) if a != b), min(len(lines), len(others)))


def _rule_problems(content: Content, measure: Measure) -> list[str]:
    rules = [mined.rule for mined in content.rules]
    problems = []
    for line, rule in enumerate(rules, 1 + HEADER_LINES):
        unknown = {rule.head, *(atom.relation for atom in rule.body)} - content.relations.keys()
        if unknown:
            problems.append(at(RULES, line, f"the relation {min(unknown)!r} is not in {RELATIONS}."))
    if problems:
        return problems
    counted = measure(named_graph(content.complete, content.entities, sorted(content.relations)), rules)
    for line, (stated, mined) in enumerate(zip(content.rules, counted, strict=True), 1 + HEADER_LINES):
        for name in ("support", "head_size", "body_size", "pca_body_size", "functional"):
            if getattr(stated, name) != getattr(mined, name):
                what = f"{name} is {getattr(stated, name)!r}, but the complete graph gives {getattr(mined, name)!r}."
                problems.append(at(RULES, line, what))
    return problems


def _certificate_problems(files: PackageFiles) -> list[str]:
    content = files.content
    left = {triple[:3] for triple in files.incomplete}
    of: dict[Named, tuple[int, Certificate]] = {}
    problems = []
    for line, row in enumerate(content.certificates, 1):
        if row.removed in of:
            problems.append(at(CERTIFICATE, line, f"line {of[row.removed][0]} certifies the same triple."))
        of.setdefault(row.removed, (line, row))
    for line, row in enumerate(content.certificates, 1):
        found: list[str] = []
        if row.removed not in content.removed:
            found.append(f"the triple {shown(row.removed)} is not removed.")
        if not 1 <= row.rule <= len(content.rules):
            found.append(f"there is no rule {row.rule}.")
        else:
            found += _body_problems(row, content.rules[row.rule - 1])
        found += [f"the body triple {shown(triple)} is not there." for triple in row.body if triple not in left]
        if row.twin_of is not None:
            found += _twin_problems(row, row.twin_of, of)
        problems += [at(CERTIFICATE, line, what) for what in found]
    for line, triple in enumerate(files.removed, 1):
        if triple[:3] not in of:
            problems.append(at(REMOVED, line, f"the removed triple {shown(triple)} has no certificate."))
    return problems


def _body_problems(row: Certificate, mined: MinedRule) -> list[str]:
    head = row.removed if row.twin_of is None else row.twin_of
    problems = []
    if not grounds(mined.rule, head, row.body):
        problems.append(f"the body is no grounding of rule {row.rule} ({mined.rule}) for {shown(head)}.")
    for name in ("std_confidence", "pca_confidence"):
        if getattr(row, name) != getattr(mined, name):
            problems.append(f"{name} is {getattr(row, name)!r}; that of rule {row.rule} is {getattr(mined, name)!r}.")
    return problems


def _twin_problems(row: Certificate, other: Named, of: dict[Named, tuple[int, Certificate]]) -> list[str]:
    problems = []
    if (row.removed[0], row.removed[2]) != (other[2], other[0]):
        problems.append(f"the triple is not between tail and head of {shown(other)}.")
    if other not in of or of[other][1].twin_of is not None:
        problems.append(f"the triple {shown(other)} has no certificate of its own.")
    elif (of[other][1].rule, of[other][1].body) != (row.rule, row.body):
        problems.append(f"rule and body are not those of the certificate of {shown(other)}.")
    return problems
