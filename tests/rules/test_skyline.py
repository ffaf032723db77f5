from __future__ import annotations

import random
from itertools import combinations_with_replacement, product

from kgqa_bench.rules.shapes import (
    BODY,
    EDGES,
    FIRST,
    HEAD,
    PCA,
    SHAPE,
    SUPPORT,
    UNKNOWN,
    Body,
    Shape,
    Table,
    body_from,
    body_of,
    closed_parts,
    empty_table,
    rule_of,
)
from kgqa_bench.rules.skyline import select

NAMES = ("r", "s", "t")
IDS = {name: number for number, name in enumerate(NAMES)}


def _bodies() -> list[Body]:
    """Every body of every shape over three relations: where edges are equal, in rising order."""
    bodies = []
    for shape, edges in EDGES.items():
        groups = [edges.count(edge) for edge in dict.fromkeys(edges)]
        for parts in product(*(combinations_with_replacement(range(6), size) for size in groups)):
            bodies.append((shape, tuple(relation for part in parts for relation in part)))
    return bodies


def test_every_rule_has_one_body() -> None:
    bodies = _bodies()
    rules = [rule_of(0, body, NAMES) for body in bodies]
    assert len(set(rules)) == len(bodies)
    assert [body_from(rule, IDS) for rule in rules] == bodies


def test_closed_parts_are_those_of_the_rules() -> None:
    for body in _bodies():
        parts = {rule_of(0, part, NAMES) for part in closed_parts(*body)}
        assert parts == set(rule_of(0, body, NAMES).closed_subrules())


def _table(*rows: tuple[Shape, tuple[int, ...], int, int, int]) -> Table:
    table = empty_table(len(rows))
    for number, (shape, relations, support, pca, body) in enumerate(rows):
        table[number, [HEAD, SHAPE, SUPPORT, PCA, BODY]] = 0, shape, support, pca, body
        table[number, FIRST : FIRST + len(relations)] = relations
    return table


def _selected(table: Table) -> list[Body]:
    return [body_of(row) for row in select(table).tolist()]


def test_a_rule_must_beat_every_part_that_is_output() -> None:
    one, two = (Shape.SINGLE, (1,)), (Shape.SINGLE, (2,))
    both = (Shape.PARALLEL2, (1, 2))
    assert _selected(_table((*one, 50, 100, 100), (*two, 40, 100, 100), (*both, 30, 60, 60))) == [one, two]  # a tie
    assert _selected(_table((*one, 50, 100, 100), (*two, 40, 100, 100), (*both, 30, 59, 60))) == [one, two, both]
    # the better part is not output itself: its standard confidence is too low
    assert _selected(_table((*one, 50, 60, UNKNOWN), (*two, 40, 100, 100), (*both, 30, 59, 60))) == [two, both]


def test_a_part_counts_for_its_own_head_only() -> None:
    table = _table((Shape.SINGLE, (1,), 50, 100, 100), (Shape.PARALLEL2, (1, 2), 30, 90, 90))
    assert len(select(table)) == 1
    table[0, HEAD] = 2
    assert len(select(table)) == 2


def test_parts_that_are_not_output_do_not_pass_on_what_beat_them() -> None:
    """Three parallel atoms are compared with the output rules alone, whatever kept a pair out."""
    pair, three = (Shape.PARALLEL2, (1, 2)), (Shape.PARALLEL3, (1, 2, 4))
    table = _table((Shape.SINGLE, (1,), 50, 100, 100), (*pair, 40, 100, 100), (*three, 30, 55, 55))
    assert _selected(table) == [(Shape.SINGLE, (1,)), three]


def test_bodies_reached_over_perfect_rules_only_are_not_searched() -> None:
    one, two = (Shape.SINGLE, (1,)), (Shape.SINGLE, (2,))
    both = (Shape.PARALLEL2, (1, 2))
    assert _selected(_table((*one, 9, 9, UNKNOWN), (*two, 9, 9, UNKNOWN), (*both, 5, 5, 5))) == []
    assert _selected(_table((*one, 9, 9, UNKNOWN), (*two, 8, 9, UNKNOWN), (*both, 5, 5, 5))) == [both]
    # a triangle is reached over its open ends
    triangle = (Shape.TRIANGLE, (1, 2, 3))
    path = (Shape.PATH2, (2, 3))
    assert _selected(_table((*one, 9, 9, UNKNOWN), (*path, 9, 9, UNKNOWN), (*triangle, 5, 5, 5))) == [triangle]


def test_fractions_that_no_float_tells_apart() -> None:
    """10^17 and one more or less: equal as floats."""
    most = 10**17
    table = _table((Shape.SINGLE, (1,), most, most + 1, most + 1), (Shape.PARALLEL2, (1, 2), most - 1, most, most))
    assert _selected(table) == [(Shape.SINGLE, (1,))]
    assert (most - 1) / most == most / (most + 1)
    table[1, SUPPORT], table[1, PCA] = most + 1, most + 2
    assert len(select(table)) == 2


def test_the_order_of_candidates_does_not_matter() -> None:
    draw = random.Random(1)
    rows = []
    for body in _bodies():
        support = draw.randint(1, 9)
        pca = support + draw.randint(0, 9)
        rows.append((*body, support, pca, pca + draw.randint(0, 3)))
    expected = sorted(_selected(_table(*rows)))
    assert 50 < len(expected) < len(rows)
    draw.shuffle(rows)
    assert sorted(_selected(_table(*rows))) == expected
