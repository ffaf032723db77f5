import re

import pytest

from kgqa_bench.benchmarks.incomplete.wording import question_text, sentence
from kgqa_bench.errors import KgqaBenchError

FAMILY = [
    "aunt", "brother", "daughter", "father", "husband", "mother",
    "nephew", "niece", "sister", "son", "uncle", "wife",
]  # fmt: skip
BIRTH = "/people/person/place_of_birth"


def question(relation: str, asked: str, topic: str, label: str | None = None) -> str:
    return question_text(relation, asked, topic, relation if label is None else label)


def test_family_relations_read_in_both_directions() -> None:
    # 7 is the aunt of 72
    assert question("aunt", "head", "72", "is the aunt of") == "Who is the aunt of 72?"
    assert question("aunt", "tail", "7", "is the aunt of") == "Who is 7 the aunt of?"


def test_other_roles_ask_for_things() -> None:
    assert question("capital", "head", "Peru", "is the capital of") == "What is the capital of Peru?"
    assert question("capital", "tail", "Lima", "is the capital of") == "What is Lima the capital of?"


@pytest.mark.parametrize(
    ("relation", "head", "tail"),
    [
        (BIRTH, "Who was born in X?", "Where was X born?"),
        ("/film/director/film", "Who directed the film X?", "Which films did X direct?"),
        ("/location/location/contains", "Which places contain X?", "Which places lie in X?"),
        (
            "/tv/tv_network/programs./tv/tv_network_duration/program",
            "Which television networks have broadcast the program X?",
            "Which programs has the television network X broadcast?",
        ),
        ("directed_by", "Which films did X direct?", "Who directed the film X?"),
    ],
)
def test_sentences_of_known_relations(relation: str, head: str, tail: str) -> None:
    assert question(relation, "head", "X") == head
    assert question(relation, "tail", "X") == tail


def test_other_freebase_paths_are_read_as_type_and_property() -> None:
    relation = "/zoology/animal_breed/temperament"
    assert question(relation, "tail", "X") == "What is the temperament of the animal breed X?"
    assert question(relation, "head", "X") == "Which animal breed has X as temperament?"
    relation = "/zoology/animal/owners./zoology/pet_ownership/owner"
    assert question(relation, "tail", "X") == "What is the owner of the owners of the animal X?"
    assert question(relation, "head", "X") == "Which animal has X as owner of its owners?"


def test_any_other_label_stands_in_its_statement() -> None:
    assert question("causes", "head", "X", "leads to") == 'What fills the gap in "___ leads to X"?'
    assert question("causes", "tail", "X", "leads to") == 'What fills the gap in "X leads to ___"?'
    assert question("a\tb", "tail", "X", "") == 'What fills the gap in "X a b ___"?'


@pytest.mark.parametrize("topic", ["{topic}", "{}", "%s", "{0.__class__}", "a {topic} b", "\\1"])
def test_topics_are_taken_as_they_are(topic: str) -> None:
    assert question(BIRTH, "head", topic) == f"Who was born in {topic}?"
    assert question("r", "tail", topic, "sees {topic}") == f'What fills the gap in "{topic} sees  ___"?'


def check_all(relations: dict[str, str]) -> None:
    """Every question is well formed, holds its topic as a whole word, and is no other's."""
    seen: dict[str, str] = {}
    for name, label in relations.items():
        for asked in ("head", "tail"):
            text = question(name, asked, "48213", label)
            assert re.search(r"(?<!\w)48213(?!\w)", text), text
            assert re.fullmatch(r"[A-Z][^?\n\t{}@|]*\?", text) and "  " not in text, text
            assert len(re.findall("48213", text)) == 1
            assert text.split()[0] in {
                "Who", "Whom", "Whose", "What", "Which", "Where", "In", "At", "By", "For", "From", "Into", "Of", "On",
                "As", "To", "With", "Together",
            }, text  # fmt: skip
            assert text not in seen, f"{name} asks as {seen.get(text)}: {text}"
            seen[text] = name


def test_all_family_relations() -> None:
    check_all({name: f"is the {name} of" for name in FAMILY})


@pytest.mark.data
def test_all_relations_of_fb15k237(real_data) -> None:
    from kgqa_bench import registry

    graph = registry.create("graphs", "fb15k237").load(real_data)
    relations = {graph.relation_name(at): graph.relation_label(at) for at in range(graph.num_relations)}
    assert len(relations) == 237
    check_all(relations)
    # each has a sentence of its own, whatever its label
    assert all(sentence(name, "head", "x") == sentence(name, "head", "is the y of") for name in relations)


@pytest.mark.data
def test_all_relations_of_metaqa_and_umls(real_data) -> None:
    from kgqa_bench import registry

    for name in ("metaqa", "umls"):
        try:
            graph = registry.create("graphs", name).load(real_data)
        except KgqaBenchError as problem:
            pytest.skip(str(problem))
        check_all({graph.relation_name(at): graph.relation_label(at) for at in range(graph.num_relations)})
