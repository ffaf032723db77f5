"""The names under which files of predictions and of gold answers have what is scored.

Of several names of one thing the first that a row has counts.

| thing | name | in files of |
|---|---|---|
| question (``IDS``) | ``id`` | RoG, GNN-RAG, BRINK, GR-Agent |
| | ``qid``, ``QuestionId``, ``ID`` | GrailQA, WebQSP, CWQ |
| | ``index`` | GoG |
| its words, where a row has no id (``QUESTIONS``) | ``question``, ``RawQuestion`` | ToG, PoG |
| prediction (``PREDICTIONS``) | ``prediction`` | RoG, GNN-RAG, GR-Agent, GoG |
| | ``raw_output`` | BRINK |
| | ``results`` | ToG, PoG |
| right answers (``ANSWERS``) | ``ground_truth`` | RoG, GNN-RAG, GR-Agent |
| | ``answers``, ``answer`` | BRINK and GoG, CWQ |
| hard ones (``HARD``) | ``hard_answer`` | BRINK, GoG |
| | ``hard_answers`` | this package |
"""

from __future__ import annotations

IDS = ("id", "qid", "question_id", "QuestionId", "ID", "index")
QUESTIONS = ("question", "RawQuestion")
PREDICTIONS = ("prediction", "predictions", "raw_output", "results")
ANSWERS = ("ground_truth", "gold", "answers", "answer", "a_entity")
HARD = ("hard_answers", "hard_answer")
