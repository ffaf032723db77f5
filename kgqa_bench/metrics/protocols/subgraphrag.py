"""The corrected scorer of SubgraphRAG."""

from __future__ import annotations

from kgqa_bench.contracts import Protocol, ScoreRow, Scores
from kgqa_bench.metrics.normal_form import normal_form

MARK = "ans:"
_NO_ANSWER = (f"{MARK} not available", f"{MARK} no information available")
_YEAR_WORDS = ("when", "what year")
_LENIENT_WORDS = (
    "when", "what year", "which year", "where", "sport", "what countr", "language", "nba finals", "world series",
)  # fmt: skip


class SubgraphRag(Protocol):
    """Lines and gold answers matched one to one, longest first, by gold answers as substrings of lines.

    Graph-COM/SubgraphRAG ``reason/metrics/evaluate_results_corrected.py``. Of a reply with lines marked ``ans:`` only
    these are read, without those that say none or not available, each once; a reply without such a mark is read line
    by line, as the original reads RoG's. A line is used up by the gold answer that it matches. In questions about
    times, places, sports and languages (by words of their wording, where it is known) a line within a gold answer
    counts too, and for "when" and "what year" gold dates are cut to their year. Hit@1 looks into the first line;
    exact match is F1 = 1. Hits@Any is of the same repository's other file: RoG's rule over these lines.

    The original skips lines that are no JSON; here they score 0, and so does a question without gold answer. Its
    hallucination score needs the retrieved triples and is not computed.
    """

    unit = "text"
    version = "1"

    def score(self, row: ScoreRow) -> Scores:
        """The scores of one answered question."""
        lines, gold = _lines(row.predictions), _gold(row)
        if not lines or not gold:
            return Scores(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        lenient = any(word in row.question.lower() for word in _LENIENT_WORDS)
        forms = [(normal_form(line), normal_form(line.rpartition(MARK)[2])) for line in lines]
        answers = [normal_form(answer) for answer in gold]
        left = [form for _line, form in sorted(zip(lines, forms, strict=True), key=lambda pair: -len(pair[0]))]
        matched = 0
        for answer in answers:
            for form in left:
                if answer in form[0] or (lenient and (form[1] in answer or form[0] in answer)):
                    matched += 1
                    left.remove(form)
                    break
        precision, recall = matched / len(lines), matched / len(answers)
        f1 = 2 * precision * recall / (precision + recall) if matched else 0.0
        said = normal_form(" ".join(lines))
        first = any(answer in forms[0][0] or (lenient and forms[0][1] in answer) for answer in answers)
        any_hit = any(answer in said for answer in answers)
        return Scores(float(any_hit), float(first), precision, recall, f1, float(f1 == 1))


def _lines(predictions: tuple[str, ...]) -> list[str]:
    if not any(MARK in line for line in predictions):
        return list(predictions)
    marked = (line for line in predictions if MARK in line)
    kept = (
        line for line in marked if "none" not in (lower := line.lower()) and not any(no in lower for no in _NO_ANSWER)
    )
    return list(dict.fromkeys(kept))


def _gold(row: ScoreRow) -> list[str]:
    gold = sorted(dict.fromkeys(row.gold), key=len, reverse=True)
    if any(word in row.question.lower() for word in _YEAR_WORDS):
        parts = [answer.partition("-") for answer in gold]
        gold = [year if dash and year.isdigit() else year + dash + rest for year, dash, rest in parts]
    return gold
