"""Files of rules: ours, AMIE 3's printed output, and plain lines of rules.

A rule is ``?a father ?c ?c brother ?b => ?a uncle ?b``: atoms of subject, relation and object, with one or more
spaces between them. Tables are separated by tabs, with the columns by name in a header or in AMIE's order without
one. AMIE prints its log into the same stream; its lines are told from rules by what AMIE is known to say, and a line
that is neither is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from kgqa_bench.errors import DataError, DataNotFoundError
from kgqa_bench.horn.measures import COUNTS, LOG_HINT, Measured, read_measures
from kgqa_bench.horn.rule import MinedRule, Rule
from kgqa_bench.horn.rule_text import RuleTextError, parse_rule, unwritable
from kgqa_bench.storage import atomic_write

COLUMNS = (
    "rule",
    "head_coverage",
    "std_confidence",
    "pca_confidence",
    "positives",
    "body_size",
    "pca_body_size",
    "functional_variable",
)
TYPES = ("type", "subtype")
NUMBERED_COLUMNS = ("number", "rule", *TYPES, *COLUMNS[1:])

_OTHER_NAMES = {"positive_examples": "positives"}
_BOUNDS = ("std_lower_bound", "pca_lower_bound", "pca_conf_estimation")  # AMIE+'s estimates; not measures
_KNOWN = {*NUMBERED_COLUMNS, *_BOUNDS}

_START = re.compile(r"Starting the mining phase *\.* *(?:Using \d+ threads?)?")
_MINED = re.compile(r"(\d{1,18}) rules? mined\.?", re.ASCII)
_LOG = re.compile(
    r"Assuming |Using |Loading |Loaded |Starting |Finished |Building |Default mining assistant|Counting |No minimum "
    r"|Filtering on |Constants in |Lossless |Pruning by |Query rewriting |Perfect rules |Enabling |MRT calls"
    r"|Mining done|Total time|Specialization time|Scoring time|Queueing |Approximation time|Maximum |Removed "
    r"|OpenJDK |Picked up |WARNING: "
)


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule of a file.

    Attributes:
        rule: The rule.
        line: Its line, counted from 1.
        measures: Its counts, where the file gives them all.
        number: Its number, where the file numbers its rules.
    """

    rule: Rule
    line: int
    measures: MinedRule | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What a file of rules holds.

    Attributes:
        path: The file.
        rows: The rules in the file's order.
        log: The lines that are AMIE's log and no rules.
        complete: Whether AMIE's log says that it came to its end; None where there is no such log.
    """

    path: Path
    rows: tuple[RuleRow, ...]
    log: tuple[str, ...] = ()
    complete: bool | None = None

    @property
    def rules(self) -> list[Rule]:
        """The rules in the file's order."""
        return [row.rule for row in self.rows]

    @property
    def measured(self) -> list[MinedRule] | None:
        """The rules with their counts; None where the file has a rule without them."""
        measures = [row.measures for row in self.rows if row.measures is not None]
        return measures if len(measures) == len(self.rows) else None


def read_rules(path: Path) -> RuleFile:
    """Read a file of rules in any of the forms above.

    Head variables other than ``?a`` and ``?b`` are renamed. Relation names are kept as they are, AMIE's ``<…>``
    included. The head size is reckoned from head coverage and positives.

    Raises:
        DataNotFoundError: There is no such file.
        DataError: A line is neither a rule nor a line of AMIE's log; a rule is malformed, has a constant, is not
            closed or not connected, has more than four atoms, or stands there twice; numbers contradict one another
            or the rule; AMIE counted other than the rules that are there; there is no rule. Names file and line.
    """
    if not path.is_file():
        raise DataNotFoundError(f"There is no file of rules {path}.", hint="Check the path given by --rules.")
    return _Reader(path).read()


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns: tuple[str, ...] | None = None
        self._rows: list[RuleRow] = []
        self._log: list[str] = []
        self._lines: dict[Rule, int] = {}
        self._started = self._ended = False

    def read(self) -> RuleFile:
        for line, text in self._texts():
            self._take(line, text)
        if not self._rows and not self._ended:
            raise DataError("there is no rule in the file.", file=self._path, hint="Give at least one rule.")
        complete = self._ended if self._started or self._ended else None
        return RuleFile(self._path, tuple(self._rows), tuple(self._log), complete)

    def _texts(self) -> Iterator[tuple[int, str]]:
        line = 0
        try:
            with self._path.open(encoding="utf-8-sig") as stream:
                for line, text in enumerate(stream, 1):
                    if text.strip():
                        yield line, text.rstrip("\n")
        except UnicodeDecodeError as problem:
            raise DataError(
                "the file is not UTF-8.", file=self._path, line=line + 1, hint="Convert the file to UTF-8."
            ) from problem
        except OSError as problem:
            raise DataError(f"the file cannot be read: {problem.strerror or problem}.", file=self._path) from problem

    def _take(self, line: int, text: str) -> None:
        start = _START.match(text)
        if start:  # AMIE may write on without a line break
            self._started = True
            self._log.append(start.group())
            text = text[start.end() :]
            if not text.strip():
                return
        fields = text.split("\t")
        if "=>" not in text and _column(fields[0]) in {"rule", "number"}:
            self._header(line, fields)
        elif "=>" in text:
            self._rule(line, fields)
        else:
            self._note(line, text.strip())

    def _header(self, line: int, fields: Sequence[str]) -> None:
        names = tuple(map(_column, fields))
        unknown = [field for field, name in zip(fields, names, strict=True) if name not in _KNOWN]
        if unknown or len(set(names)) < len(names) or "rule" not in names:
            what = f"the column {unknown[0]!r} is unknown" if unknown else "the columns are not each there once"
            self._fail(line, f"{what}.", hint=f"Columns are: {', '.join(NUMBERED_COLUMNS)}.")
        if self._columns not in (None, names):
            self._fail(line, "a second header with other columns.", hint="Read files of rules one by one.")
        self._columns = names

    def _note(self, line: int, text: str) -> None:
        mined = _MINED.fullmatch(text)
        if mined:
            self._ended = True
            if int(mined.group(1)) != len(self._rows):
                self._fail(
                    line,
                    f"AMIE mined {mined.group(1)} rules, but {len(self._rows)} stand before this line.",
                    hint="Take AMIE's whole output.",
                )
        elif not _LOG.match(text):
            self._fail(line, f"{_short(text)!r} is neither a rule nor a known line of AMIE's log.", hint=LOG_HINT)
        self._log.append(text)

    def _rule(self, line: int, fields: Sequence[str]) -> None:
        columns = self._columns
        if columns is None:
            columns = COLUMNS[:1] if len(fields) == 1 else (*COLUMNS, *_BOUNDS)[: len(fields)]
            if len(fields) not in {1, len(COLUMNS), len(COLUMNS) + len(_BOUNDS)}:
                self._fail(line, f"{len(fields)} columns and no header to tell what they are.")
        if len(fields) != len(columns):
            self._fail(line, f"{len(fields)} columns instead of {len(columns)} ({', '.join(columns)}).")
        given = dict(zip(columns, map(str.strip, fields), strict=True))
        try:
            rule, (subject, object_) = parse_rule(given["rule"])
            self._check_type(line, rule, given)
            measures = read_measures(rule, subject, object_, given) if set(given) >= COUNTS else None
        except (RuleTextError, Measured) as problem:
            self._fail(line, str(problem), hint=problem.hint)
        if rule in self._lines:
            self._fail(
                line, f"the rule {rule} is in line {self._lines[rule]} already.", hint="Leave one of them out."
            )
        self._lines[rule] = line
        self._rows.append(RuleRow(rule, line, measures, self._number(line, given)))

    def _check_type(self, line: int, rule: Rule, given: dict[str, str]) -> None:
        for name, is_so in (("type", rule.type), ("subtype", rule.subtype or "")):
            if given.get(name, is_so) != is_so:
                self._fail(line, f"the {name} of the rule is {is_so or 'none'!r}, not {given[name]!r}.")

    def _number(self, line: int, given: dict[str, str]) -> int | None:
        if "number" not in given:
            return None
        if not re.fullmatch(r"\d{1,9}", given["number"], re.ASCII):
            self._fail(line, f"{given['number']!r} is no number of a rule.")
        number = int(given["number"])
        if self._rows and number <= (self._rows[-1].number or 0):
            self._fail(line, f"the number {number} does not follow {self._rows[-1].number}.")
        return number

    def _fail(self, line: int, message: str, hint: str | None = None) -> NoReturn:
        raise DataError(message, file=self._path, line=line, hint=hint)


def rule_table(mined: Sequence[MinedRule], numbers: Sequence[int] | None = None) -> str:
    """Rules with their measures as a table that ``read_rules`` reads back exactly.

    Args:
        mined: The rules; numbers are written in full, so that equal floats come back.
        numbers: Their numbers in ascending order, for a first column ``number``; types then follow the rule, else
            they come last.

    Raises:
        DataError: A relation name cannot stand in a rule (see ``check_relation_names``).
    """
    check_relation_names({atom for each in mined for atom in (each.rule.head, *(a.relation for a in each.rule.body))})
    lines = ["\t".join(NUMBERED_COLUMNS if numbers is not None else (*COLUMNS, *TYPES))]
    for position, each in enumerate(mined):
        rule = each.rule
        types = [rule.type, rule.subtype or ""]
        measures = [
            repr(each.head_coverage),
            repr(each.std_confidence),
            repr(each.pca_confidence),
            str(each.support),
            str(each.body_size),
            str(each.pca_body_size),
            "?a" if each.functional == "subject" else "?b",
        ]
        if numbers is None:
            lines.append("\t".join([str(rule), *measures, *types]))
        else:
            lines.append("\t".join([str(numbers[position]), str(rule), *types, *measures]))
    return "\n".join(lines) + "\n"


def write_rules(path: Path, mined: Sequence[MinedRule], numbers: Sequence[int] | None = None) -> None:
    """Write ``rule_table`` to a file, whole or not at all.

    Raises:
        StorageError: The file cannot be written.
        DataError: As for ``rule_table``.
    """
    content = rule_table(mined, numbers).encode()
    with atomic_write(path) as stream:
        stream.write(content)


def check_relation_names(names: set[str]) -> None:
    """DataError where a relation name could not be read back from a rule."""
    for name in sorted(names):
        problem = unwritable(name)
        if problem:
            raise DataError(
                f"the relation name {name!r} {problem}, so a rule with it could not be read back.",
                hint="Rename the relation in the graph's file.",
            )


def _column(field: str) -> str:
    name = re.sub(r"[ _]+", "_", field.strip().lower().replace(".", ""))
    return _OTHER_NAMES.get(name, name)


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
