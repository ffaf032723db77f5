"""Replies meet the gold answers: who is counted, and as what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kgqa_bench.contracts import ScoreRow
from kgqa_bench.predictions.model import GoldRow, Ledger, Reply

DUPLICATE = "duplicate id (the last one counts)"
UNKNOWN = "id without gold answer"
MISSING = "missing"
UNASKED = "repeat that was not asked"
UNKNOWN_WORDING = "question without gold answer"
SHARED_WORDING = "words of several questions (counts for each)"
NO_ID = "no id"
NO_GOLD = "no gold answer in the row"
EMPTY_GOLD = "empty gold"
EMPTY = "empty prediction"
HARD_OUTSIDE = "hard answer outside the gold answers"


def join(
    replies: Iterable[Reply],
    gold: Mapping[str, GoldRow] | None,
    *,
    repeats: int = 1,
    rewrites: bool = False,
    unreached: int = 0,
) -> tuple[list[ScoreRow], Ledger]:
    """Rows to score, one a question and repeat, and the ledger.

    Args:
        replies: In the order of their file; of several for one question and repeat the last counts. Those without
            id are of the questions of ``gold`` with the same words.
        gold: The gold answers by id; these are the questions then. None where the replies bring their own: then the
            questions are those of the file, and a row that cannot be read counts as a question not answered.
        repeats: How often each question was asked.
        rewrites: The source replaces rows by writing them again, so that repeated ids are no finding.
        unreached: Questions that were to be asked and are not in the source at all.
    """
    ledger = Ledger()
    latest: list[dict[str, Reply]] = [{} for _ in range(repeats)]
    nameless: list[Reply] = []
    for reply in replies if gold is None else _by_words(replies, gold, ledger):
        if reply.id is None:
            nameless.append(reply)
        elif gold is not None and reply.id not in gold:
            ledger.ignore(UNKNOWN, reply.id)
        elif not 0 <= reply.repeat < repeats:
            ledger.ignore(UNASKED, reply.id)
        else:
            same = latest[reply.repeat]
            if not rewrites and reply.id in same:
                ledger.ignore(DUPLICATE, reply.id)
            same[reply.id] = reply
    questions: Mapping[str, GoldRow | None]
    if gold is None:
        questions = {question_id: reply.gold for same in latest for question_id, reply in same.items()}
    else:
        questions = gold
    rows: list[ScoreRow] = []
    for question_id, answers in questions.items():
        for same in latest:
            reply = same.get(question_id) or Reply(question_id, question_id, problem=MISSING)
            rows.append(_row(question_id, reply, answers, ledger))
    for reply in nameless:
        if gold is None:
            rows.append(_row(f"({reply.where})", reply, None, ledger))
        else:
            ledger.ignore(reply.problem or NO_ID, reply.where)
    for number in range(unreached):
        for _repeat in range(repeats):
            rows.append(ScoreRow(f"(not reached {number + 1})", (), (), answered=False))
            ledger.miss(MISSING, "never reached")
    return rows, ledger


def _by_words(replies: Iterable[Reply], gold: Mapping[str, GoldRow], ledger: Ledger) -> Iterator[Reply]:
    """Replies without id get that of the question with their words; case, spaces and a question mark do not count."""
    ids: dict[str, list[str]] = {}
    for reply in replies:
        if reply.id is not None or reply.wording is None:
            yield reply
            continue
        if not ids:
            for question_id, row in gold.items():
                ids.setdefault(_words(row.question), []).append(question_id)
            ids.pop("", None)
        found = ids.get(_words(reply.wording), [])
        if not found:
            yield reply._replace(problem=UNKNOWN_WORDING, where=reply.wording)
        elif len(found) > 1:
            ledger.note(SHARED_WORDING, reply.wording)
        for question_id in found:
            yield reply._replace(id=question_id)


def _words(question: str) -> str:
    return " ".join(question.casefold().rstrip("? ").split())


def _row(question_id: str, reply: Reply, gold: GoldRow | None, ledger: Ledger) -> ScoreRow:
    _id, where, predictions, raw, problem, _gold, _repeat, _wording = reply
    if problem is not None or gold is None:
        ledger.miss(problem or NO_GOLD, where)
        answers, hard, primary, question, groups = gold or GoldRow(())
        return ScoreRow(question_id, (), answers, hard, primary, None, False, question, groups)
    ledger.asked += 1
    ledger.answered += 1
    answers, hard, primary, question, groups = gold
    if not answers:
        ledger.note(EMPTY_GOLD, where)
    elif hard and not set(hard) <= set(answers):
        ledger.note(HARD_OUTSIDE, where)
    if not any(predictions):
        ledger.note(EMPTY, where)
    return ScoreRow(question_id, predictions, answers, hard, primary, raw, True, question, groups)
