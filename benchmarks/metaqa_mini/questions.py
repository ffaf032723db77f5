"""Questions by relation path: wordings of our own, answers followed through the graph."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .films import Triple

Step = tuple[str, bool]
"""A relation, and whether it is walked from the film's property to the film."""

_RELATIONS = {
    "director": "directed_by",
    "writer": "written_by",
    "actor": "starred_actors",
    "year": "release_year",
    "language": "in_language",
    "genre": "has_genre",
    "tags": "has_tags",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}

_OF_ONE_FILM: dict[str, tuple[str, ...]] = {
    "director": ("Who directed {x}?", "By whom was {x} directed?"),
    "writer": ("Who wrote {x}?", "Whose script is {x}?"),
    "actor": ("Who acts in {x}?", "Which actors does {x} star?"),
    "year": ("When did {x} come out?", "What is the release year of {x}?"),
    "language": ("What language is spoken in {x}?", "In which language is {x}?"),
    "genre": ("What genre is {x}?", "To which genres does {x} belong?"),
    "tags": ("Which tags has {x}?", "With which words is {x} tagged?"),
    "imdbrating": ("How is {x} rated?", "What rating has {x}?"),
    "imdbvotes": ("How well known is {x} by its votes?", "What do the votes say about {x}?"),
}
_FILMS_OF = {
    "director": ("films directed by {x}", "films that {x} directed"),
    "writer": ("films written by {x}", "films that {x} wrote"),
    "actor": ("films with {x} in the cast", "films that {x} acts in"),
    "tags": ("films tagged {x}", "films about {x}"),
}
_OTHER_FILMS = {
    "director": ("other films by the director of {x}", "other films that the director of {x} made"),
    "writer": ("other films by the writer of {x}", "other films that the writer of {x} wrote"),
    "actor": ("other films with an actor of {x}", "other films that share an actor with {x}"),
}
_OF_FILMS = {
    "director": ("Who{else} directed the {films}?", "Which{other} directors made the {films}?"),
    "writer": ("Who{else} wrote the {films}?", "Which{other} writers worked on the {films}?"),
    "actor": ("Who{else} acts in the {films}?", "Which{other} actors are in the {films}?"),
    "year": ("In which years did the {films} come out?", "When were the {films} released?"),
    "language": ("Which languages are spoken in the {films}?", "In which languages are the {films}?"),
    "genre": ("What genres are the {films}?", "To which genres do the {films} belong?"),
}


@dataclass(frozen=True)
class Kind:
    """A type of question.

    Attributes:
        name: As MetaQA names its types: the way from the topic to the answers.
        path: The relation path.
        wordings: With ``{x}`` for the topic.
    """

    name: str
    path: tuple[Step, ...]
    wordings: tuple[str, ...]


def kinds() -> Iterator[Kind]:
    """All types, by hops."""
    for what, wordings in _OF_ONE_FILM.items():
        yield Kind(f"movie_to_{what}", (_to(what),), wordings)
    for who, films in _FILMS_OF.items():
        yield Kind(f"{_noun(who)}_to_movie", (_from(who),), tuple(f"Which {each} are there?" for each in films))
    for who, films in _OTHER_FILMS.items():
        wordings = tuple(f"Which {each} are there?" for each in films)
        yield Kind(f"movie_to_{who}_to_movie", (_to(who), _from(who)), wordings)
    for who in ("director", "writer", "actor"):
        for what in _OF_FILMS:
            wordings = tuple(_about(_FILMS_OF[who], what, who == what))
            yield Kind(f"{who}_to_movie_to_{what}", (_from(who), _to(what)), wordings)
    for who, films in _OTHER_FILMS.items():
        for what in _OF_FILMS:
            wordings = tuple(_about(films, what, who == what))
            yield Kind(f"movie_to_{who}_to_movie_to_{what}", (_to(who), _from(who), _to(what)), wordings)


def _about(films: Iterable[str], what: str, other: bool) -> Iterator[str]:
    for which in films:
        for wording in _OF_FILMS[what]:
            yield wording.format(
                films=which, **{"else": " else" if other else "", "other": " other" if other else ""}
            )


def _to(what: str) -> Step:
    return _RELATIONS[what], False


def _from(what: str) -> Step:
    return _RELATIONS[what], True


def _noun(what: str) -> str:
    return "tag" if what == "tags" else what


@dataclass(frozen=True)
class Asked:
    """A question with its answers, sorted."""

    kind: Kind
    topic: str
    text: str
    answers: tuple[str, ...]


def ask(triples: Iterable[Triple], most: int, rng: random.Random) -> dict[int, list[Asked]]:
    """Questions with at most ``most`` answers on each topic of each type, by hops, in drawn order.

    Types take turns, so that every one comes early: a question of each, then a second of each, and so on.
    """
    edges: dict[Step, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for head, relation, tail in triples:
        edges[relation, False][head].append(tail)
        edges[relation, True][tail].append(head)
    turns: dict[int, list[tuple[int, int, Asked]]] = defaultdict(list)
    for place, kind in enumerate(kinds()):
        topics = sorted(edges[kind.path[0]])
        rng.shuffle(topics)
        turn = 0
        for topic in topics:
            answers = _ends(edges, kind.path, (topic,))
            if 0 < len(answers) <= most:
                text = rng.choice(kind.wordings).format(x=topic)
                turns[len(kind.path)].append((turn, place, Asked(kind, topic, text, tuple(sorted(answers)))))
                turn += 1
    return {
        hops: [asked for _turn, _place, asked in sorted(found, key=lambda each: each[:2])]
        for hops, found in turns.items()
    }


def _ends(edges: Mapping[Step, Mapping[str, list[str]]], path: tuple[Step, ...], walked: tuple[str, ...]) -> set[str]:
    """Where the paths end that visit nothing twice: the other films of a director are not the film asked about."""
    if not path:
        return {walked[-1]}
    ends: set[str] = set()
    for following in edges[path[0]].get(walked[-1], ()):
        if following not in walked:
            ends |= _ends(edges, path[1:], (*walked, following))
    return ends
