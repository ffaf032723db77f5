from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgqa_bench import registry
from kgqa_bench.benchmarks.incomplete.family_tree import FEWEST, RELATIONS, grow_tree, tree_triples
from kgqa_bench.errors import ConfigError

Facts = dict[str, set[tuple[int, int]]]


def facts_of(people: int, seed: int) -> tuple[Facts, int]:
    columns = tree_triples(grow_tree(people, seed))
    facts: Facts = {name: set() for name in RELATIONS}
    for head, relation, tail in zip(*columns, strict=True):
        assert (head, tail) not in facts[RELATIONS[relation]], "a triple twice"
        facts[RELATIONS[relation]].add((head, tail))
    return facts, len(columns.heads)


def turned(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(tail, head) for head, tail in pairs}


@settings(deadline=None, max_examples=60)
@given(people=st.integers(FEWEST, 400), seed=st.integers(0, 2**40))
def test_relations_are_complete_and_agree(people: int, seed: int) -> None:
    facts, count = facts_of(people, seed)
    everyone = {person for pairs in facts.values() for pair in pairs for person in pair}
    assert everyone == set(range(people))
    assert all(facts.values()), "a relation without facts"
    assert count == sum(map(len, facts.values()))
    assert all(head != tail for pairs in facts.values() for head, tail in pairs)

    men = {head for name in ("father", "husband", "brother", "son", "uncle", "nephew") for head, _ in facts[name]}
    women = {head for name in ("mother", "wife", "sister", "daughter", "aunt", "niece") for head, _ in facts[name]}
    assert men | women == everyone and not men & women

    assert facts["husband"] == turned(facts["wife"])
    for parent in ("father", "mother"):
        assert len({child for _, child in facts[parent]}) == len(facts[parent])
    parents = facts["father"] | facts["mother"]
    assert parents == turned(facts["son"] | facts["daughter"])
    of: dict[int, set[int]] = defaultdict(set)
    for parent, child in parents:
        of[child].add(parent)
    assert all(tuple(sorted(pair, key=men.__contains__, reverse=True)) in facts["husband"] for pair in of.values())

    siblings = {(one, other) for one in of for other in of if one != other and of[one] == of[other]}
    assert facts["brother"] | facts["sister"] == siblings
    elders = {(one, child) for one, parent in siblings for child in of if parent in of[child]}
    assert facts["uncle"] | facts["aunt"] == elders
    assert facts["nephew"] | facts["niece"] == turned(elders)


@pytest.mark.parametrize("people", range(FEWEST, 90))
def test_exactly_so_many_people(people: int) -> None:
    for seed in range(4):
        assert len(grow_tree(people, seed).male) == people


def test_seeds_give_other_trees_and_the_same_again() -> None:
    assert tree_triples(grow_tree(500, 1)) == tree_triples(grow_tree(500, 1))
    assert tree_triples(grow_tree(500, 1)) != tree_triples(grow_tree(500, 2))


def test_a_tree_of_familys_size_has_familys_make_up() -> None:
    published = {
        "aunt": 2990, "brother": 3076, "daughter": 1589, "father": 2010, "husband": 1138, "mother": 1714,
        "nephew": 3633, "niece": 2815, "sister": 2658, "son": 2110, "uncle": 3485, "wife": 1138,
    }  # fmt: skip
    facts, count = facts_of(3007, 0)
    assert 0.8 * 28_356 < count < 1.2 * 28_356
    assert all(0.75 < len(facts[name]) / number < 1.3 for name, number in published.items())


def test_some_marry_twice_and_some_within_the_tree() -> None:
    tree = grow_tree(1000, 0)
    spouses = [person for couple in tree.couples for person in couple]
    assert len(spouses) > len(set(spouses))
    born = [couple for couple in tree.couples if all(tree.birth[person] >= 0 for person in couple)]
    assert len(born) > 50
    assert all(tree.birth[husband] != tree.birth[wife] for husband, wife in born)


def test_too_few_people() -> None:
    with pytest.raises(ValueError, match="at least 10"):
        grow_tree(9, 0)
    with pytest.raises(ConfigError, match="people"):
        registry.create("graphs", "family-synthetic", {"people": 9})


def test_the_graph() -> None:
    graph = registry.create("graphs", "family-synthetic", {"people": 200, "seed": 3}).load(None)
    assert graph.num_entities == 200
    assert graph.num_relations == 12
    assert graph.provenance["people"] == 200
    assert graph.relation_label(graph.relation("aunt")) == "is the aunt of"
    assert {graph.entity_name(at) for at in range(200)} == {str(number) for number in range(1, 201)}
    again = registry.create("graphs", "family-synthetic", {"people": 200, "seed": 3}).load(None)
    assert again.fingerprint == graph.fingerprint
    # names tell nothing of generations: parents are not called by lower numbers than their children
    father = graph.relation("father")
    lower = [
        int(graph.entity_name(q.head)) < int(graph.entity_name(q.tail)) for q in graph.quads() if q.relation == father
    ]
    assert 0.3 < sum(lower) / len(lower) < 0.7


def test_the_graph_is_pinned() -> None:
    """Equal on every machine and version: shipped and published builds rest on it."""
    graph = registry.create("graphs", "family-synthetic", {"people": 300}).load(None)
    assert (graph.num_triples, graph.fingerprint) == (
        2902,
        "f5788288060bf46375347e0157dde07c6656d23f8d897d77b67b52b439041423",
    )
