"""The files that published systems write, each with scores computed by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa_bench.metrics.side_by_side import applicable, side_by_side
from kgqa_bench.predictions.model import Predictions
from kgqa_bench.predictions.names import IDS
from kgqa_bench.predictions.read import read_predictions

Write = Callable[[str, list[Any]], Path]


def values(found: Predictions, protocol: str) -> dict[str, float]:
    """The scores under a protocol by name."""
    entry = side_by_side(found, [protocol])["protocols"][protocol.replace("-", "_")]
    return {name: interval["value"] for name, interval in entry["scores"].items() if interval is not None}


def test_tog(write: Write) -> None:
    """No id: rows meet their gold by the question's words. What ToG reads is in the first braces."""
    gold = [
        {"ID": "w-1", "question": "Which city is the capital of Norway?", "answer": "Oslo"},
        {"ID": "w-2", "question": "Where is  Bergen", "answer": ["Norway"]},
        {"ID": "w-3", "question": "Who wrote it?", "answer": "Ann"},
    ]
    rows = [
        {"question": "where is Bergen?", "results": "It is in {Norway}.", "reasoning_chains": [[["Bergen", "in"]]]},
        {"question": "Which city is the capital of Norway?", "results": "{Bergen}", "reasoning_chains": []},
        {"question": "Who painted it?", "results": "{Ann}", "reasoning_chains": []},
    ]
    found = read_predictions(write("ToG_cwq.jsonl", rows), write("cwq.json", gold))
    assert (found.form, found.unit) == ("results", "text")
    assert values(found, "tog") == {"hits_any": pytest.approx(1 / 3)}
    assert values(found, "strict-text")["hits_any"] == 0.0
    assert dict(found.ledger.ignored) == {"question without gold answer": 1}
    assert dict(found.ledger.unanswered) == {"missing": 1}
    assert found.ledger.examples["question without gold answer"] == ["Who painted it?"]


def test_pog(write: Write) -> None:
    """The answer stands in a JSON object: one text or a list, null where it was not found."""

    def row(question: str, answer: str) -> dict[str, Any]:
        result = f'Here: {{"A": {{"Sufficient": "Yes", "Answer": {answer}}}, "R": "It says so."}}'
        return {"RawQuestion": question, "results": result, "reasoning_chains": [], "call_num": 9}

    gold = [
        {"QuestionId": "a", "RawQuestion": "one?", "answers": ["Oslo"]},
        {"QuestionId": "b", "RawQuestion": "two?", "answers": ["Rome", "Bonn", "Paris"]},
        {"QuestionId": "c", "RawQuestion": "three?", "answers": ["Ann"]},
        {"QuestionId": "d", "RawQuestion": "four?", "answers": ["Bob"]},
    ]
    rows = [row("one?", '"Oslo"'), row("two?", '["Rome", "Riga"]'), row("three?", "null")]
    rows.append({"RawQuestion": "four?", "results": "It is Bob.", "reasoning_chains": []})
    found = read_predictions(write("PoG_webqsp.jsonl", rows), write("webqsp.json", gold))
    assert [each.predictions for each in found.rows["text"]] == [("Oslo",), ("Rome", "Riga"), (), ("It is Bob.",)]
    assert values(found, "tog") == {"hits_any": 0.75}  # "Oslo", "['Rome', 'Riga']" and "It is Bob."
    strict = values(found, "strict-text")
    # precision 1, 1/2, 0, 0; recall 1, 1/3, 0, 0; F1 1, 2/5, 0, 0
    assert [strict[name] for name in ("hits_any", "precision", "recall", "f1")] == pytest.approx(
        [2 / 4, 1.5 / 4, (4 / 3) / 4, 1.4 / 4]
    )
    assert dict(found.ledger.unanswered) == {"null prediction": 1}


def test_words_of_several_questions_count_for_each(write: Write) -> None:
    gold = [{"id": "1", "question": "Who?", "answer": "Ann"}, {"id": "2", "question": "who", "answer": "Bob"}]
    rows = [{"question": "Who?", "results": "Ann"}]
    found = read_predictions(write("p.jsonl", rows), write("g.json", gold))
    assert values(found, "strict-text")["hits_any"] == 0.5
    assert dict(found.ledger.noted) == {"words of several questions (counts for each)": 1}


def test_without_id_and_with_its_own_gold_the_words_are_the_id(write: Write) -> None:
    rows = [{"question": name, "results": "Ann", "answer": "Ann"} for name in ("Who?", "Who else?", "Who?")]
    found = read_predictions(write("p.jsonl", rows))
    assert [row.id for row in found.rows["text"]] == ["Who?", "Who else?"]
    assert dict(found.ledger.ignored) == {"duplicate id (the last one counts)": 1}


def test_gnn_rag_predictions(write: Write) -> None:
    """One text of ranked lines, as its ``predictions.jsonl`` and RoG's have it."""
    rows = [
        {
            "id": "WebQTest-0",
            "question": "?",
            "prediction": "Rome\nOslo",
            "ground_truth": ["Oslo"],
            "input": "[INST]",
        },
        {"id": "WebQTest-1", "question": "?", "prediction": "Bonn", "ground_truth": ["Bonn", "Berlin"], "input": ""},
    ]
    found = read_predictions(write("predictions.jsonl", rows))
    assert found.unit == "text"
    for protocol in ("rog", "strict-text"):
        scores = values(found, protocol)
        # hit 1, 1; first line 0, 1; precision 1/2, 1; recall 1, 1/2; F1 2/3, 2/3
        assert [scores[name] for name in ("hits_any", "hits_at_1", "precision", "recall", "f1")] == pytest.approx(
            [1, 1 / 2, 3 / 4, 3 / 4, 2 / 3]
        )


GR_AGENT = [
    {"id": "24", "question": "Who is 444's father?", "q_entity": ["444"], "prediction": ["435", "441", "232"],
     "ground_truth": ["435"], "ground_truth_entities": ["435"], "supporting_evidence": ["444|son_of|435"],
     "agent_status": "SUCCESS"},
    {"id": "33", "question": "Who is 1474 the father of?", "q_entity": ["1474"], "prediction": ["1475"],
     "ground_truth": ["1476", "1475"], "ground_truth_entities": ["1476", "1475"], "agent_status": "SUCCESS"},
]  # fmt: skip


@pytest.mark.parametrize("name", ["predictions.json", "predictions.jsonl"])
def test_gr_agent(write: Write, name: str) -> None:
    """Ids under ``ground_truth``: the rules for ids apply, unlike to the names that RoG has there."""
    found = read_predictions(write(name, GR_AGENT))
    assert found.unit == "ids"
    assert applicable(found)[:2] == ["strict-ids", "strict-text"]
    scores = values(found, "strict-ids")
    # precision 1/3, 1; recall 1, 1/2; F1 1/2, 2/3
    assert [scores[name] for name in ("hits_any", "hits_at_1", "precision", "recall", "f1")] == pytest.approx(
        [1, 1, 2 / 3, 3 / 4, 7 / 12]
    )
    assert found.rows["ids"][0].groups == {"topic": "444"}


@pytest.mark.parametrize(
    ("answers", "unit"),
    [
        (["m.0wkd82f", "/m/02mjmr", "g.121_x"], "ids"),
        (["Q42"], "ids"),
        ([1476], "ids"),
        (["435", "Oslo"], "text"),
        (["m. x"], "text"),
        ("435", "ids"),
    ],
)
def test_what_an_id_looks_like(write: Write, answers: Any, unit: str) -> None:
    assert read_predictions(write("p.jsonl", [GR_AGENT[0] | {"ground_truth": answers}])).unit == unit


def test_gog(write: Write) -> None:
    """The question under ``index``, a list of hard answers beside the gold; the first is the primary one."""
    rows = [
        {"index": 0, "question": "?", "prediction": ["264", "266"], "answers": ["265", "266"],
         "hard_answer": ["265"], "records": [{"i": 1, "action": "finish[264,266]"}], "error": None},
        {"index": 33, "question": "?", "prediction": ["1476"], "answers": ["1476", "1475"],
         "hard_answer": ["1475", "1476"], "records": [], "error": None},
        {"index": 67, "question": "?", "prediction": [], "answers": ["2157"], "hard_answer": ["2157"],
         "records": [], "error": None},
    ]  # fmt: skip
    found = read_predictions(write("test_predictions.jsonl", rows))
    assert [row.id for row in found.rows["ids"]] == ["0", "33", "67"]
    scores = values(found, "strict-ids")
    assert scores["hits_any"] == pytest.approx(2 / 3)
    assert (scores["hits_hard_primary"], scores["hits_hard_any"]) == (0.0, pytest.approx(1 / 3))
    assert (scores["hhr"], scores["hhr_any_of_set"]) == (0.0, pytest.approx(1 / 2))
    assert dict(found.ledger.noted) == {"empty prediction": 1}


@pytest.mark.parametrize("key", IDS)
@pytest.mark.parametrize("given", ["7", 7])
def test_names_of_the_id(write: Write, key: str, given: object) -> None:
    predictions = write("p.jsonl", [{key: given, "question": "?", "prediction": ["1"]}])
    found = read_predictions(predictions, write("g.json", [{"id": "7", "answer": "1"}]))
    assert (found.ledger.asked, found.ledger.answered) == (1, 1)
    gold = write("g.json", [{key: given, "answer": "1"}])
    assert read_predictions(predictions, gold).ledger.answered == 1
