import pytest

from kgqa_bench.benchmarks.incomplete.labels import entity_labels
from kgqa_bench.errors import ConfigError
from kgqa_bench.graph.build import build_graph
from kgqa_bench.graph.memory import MemoryGraph


def graph_of(names: list[str], labels: dict[str, str] | None = None, relation: str = "near") -> MemoryGraph:
    return build_graph(names, [relation] * len(names), names, source="test", entity_labels=labels)


def test_private_labels_are_distinct_integers_by_seed() -> None:
    graph = graph_of([str(number) for number in range(1, 3008)])
    labels = entity_labels(graph, "private", 0)
    assert len(labels) == len(set(labels)) == 3007
    assert all(label.isdigit() and len(label) == 5 for label in labels)
    assert labels == entity_labels(graph, "private", 0)
    assert labels != entity_labels(graph, "private", 1)
    assert labels != sorted(labels)


def test_private_labels_never_coincide_with_names_and_labels() -> None:
    # nearly all numbers of two digits are taken, by names, by a label and by the relation
    names = [str(number) for number in range(10, 97)]
    graph = graph_of(names, {"10": "97"}, relation="98")
    for seed in range(20):
        labels = entity_labels(graph, "private", seed)
        assert len(set(labels)) == len(names)
        assert not {*names, "97", "98"} & set(labels)


def test_private_labels_stand_in_no_relation() -> None:
    # otherwise "Who is 12 a party to the treaty of 34 with?" gives the answer 34 away
    words = [str(number) for number in range(10, 80)]
    graph = graph_of(["a", "b"], relation=f"treaty {'_'.join(words)}")
    drawn = {label for seed in range(20) for label in entity_labels(graph, "private", seed)}
    assert {len(label) for label in drawn} == {2}
    assert not drawn & set(words)


def test_private_labels_of_a_handful_of_entities() -> None:
    for count in range(1, 12):
        graph = graph_of([str(number) for number in range(count)])
        labels = entity_labels(graph, "private", 3)
        assert len(set(labels)) == count
        assert not set(labels) & {str(number) for number in range(count)}


def test_ids_are_the_names() -> None:
    assert entity_labels(graph_of(["b", "a"]), "id", 0) == ["a", "b"]


def test_text_labels_are_made_unique_by_names() -> None:
    graph = graph_of(["a", "b", "c", "d"], {"a": "Georgia", "b": "Georgia", "c": "Tbilisi\n city", "d": "\x00"})
    assert entity_labels(graph, "text", 0) == ["Georgia (a)", "Georgia (b)", "Tbilisi city", "d"]


def test_text_labels_stay_unique_where_a_label_looks_like_a_bracketed_one() -> None:
    graph = graph_of(["a", "b", "c"], {"a": "X", "b": "X", "c": "X (a)"})
    assert entity_labels(graph, "text", 0) == ["X (a) (a)", "X (b)", "X (a)"]


def test_text_labels_need_labels() -> None:
    with pytest.raises(ConfigError, match="no labels"):
        entity_labels(graph_of(["a", "b"]), "text", 0)


@pytest.mark.data
def test_fb15k237_texts_are_unique(real_data) -> None:
    from kgqa_bench import registry

    graph = registry.create("graphs", "fb15k237").load(real_data)
    labels = entity_labels(graph, "text", 0)
    assert len(set(labels)) == 14_541
    assert sum(label.endswith(")") and "(/m/" in label for label in labels) == 499
    assert not any(letter in label for label in labels for letter in "\t\r\n")
