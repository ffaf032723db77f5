"""Invented films: no title and no person of them exists, so no model can know them and nothing is copied."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

Triple = tuple[str, str, str]

TITLES = (
    "The Tin Cartographer", "Seven Doors to Marrowick", "A Lantern for Odessa Finch", "Salt Hill Station",
    "The Clockmender's Wager", "The Grey Orchard Vow", "Nine Miles of Thistle", "The Last Ferry to Hask",
    "Paper Admirals", "The Beekeeper's Alibi", "Under the Quiet Aqueduct", "Minor Planets of Love",
    "The Velvet Ledger", "Harbour of Small Lies", "A Winter with the Ostlings", "The Kettle and the Comet",
    "Brassfield Junction", "The Hollow Choir of Penn", "Tomorrow at Pellgate", "The Inkwell Conspiracy",
    "Wolves of Lower Tansy", "Two Umbrellas for Wren", "The Glass Postman", "Saint Averil's Bridge",
    "The Marsh Accord", "Feathers for Colonel Brand", "Ember Lake Radio", "The Unfinished Carousel",
    "Dust on the Viaduct", "The Third Gardener", "Copper Moon Over Velm", "The Sleepwalker's Atlas",
    "Rooms by the Canal Lock", "The Cardinal's Bicycle", "Nettle Soup on Sunday", "A Map of Borrowed Rivers",
    "The Orrery Thieves", "Midnight at the Lamplight Mill", "The Weight of Pears", "Sparrow Tax",
    "Letters to a Lost Regiment", "The Amber Understudy", "North of Quillon", "The Patient Volcano",
    "Eleven Silver Spoons", "The Fog Merchant", "Carnival at Dunmarrow", "The Quarry Waltz",
)  # fmt: skip
_DIRECTORS = (
    "Ilva Marrowby", "Tobin Achterlind", "Seraphine Quost", "Matthis Dorrowell", "Perpetua Lindqvale",
    "Osric Vantongel", "Benedikta Harrowmere", "Calder Fenwhistle", "Yolande Estrapade", "Rurik Ambleforth",
    "Nadezha Corvell", "Isidor Plumtree-Vale",
)  # fmt: skip
_WRITERS = (
    "Wilhelmina Tarsk", "Gaspard Oleander", "Thessaly Bruin", "Emeric Saltonholm", "Odile Ravensmoor",
    "Jasper Kittering", "Lucasta Vireo", "Anselm Threlkeldon",
)  # fmt: skip
_ACTORS = (
    "Marisol Quintavane", "Dashiell Orme-Pascoe", "Hedwig Larkenby", "Florian Ostrander-Pike", "Ximena Valdoro",
    "Cormac Whistledale", "Petronella Aske", "Ludovic Hartsbane", "Saskia Underwell", "Barnaby Coldstream-Lye",
    "Imogen Fairweather-Dunne", "Casimir Bellowes", "Rosalba Tindermann", "Eskil Morrowgate",
    "Viveka Thornquist-Hale", "Leopold Asterby", "Corisande Mellowick", "Thaddeus Brackwater",
)  # fmt: skip
_LANGUAGES = ("English", "French", "German", "Portuguese", "Finnish", "Japanese")
_GENRES = ("Drama", "Comedy", "Mystery", "Adventure", "Romance", "War", "Fantasy", "Thriller", "Musical")
_TAGS = (
    "railways", "smuggling", "twins", "inheritance", "forgery", "sea voyage", "orphan", "clockwork", "snowed in",
    "election", "chess", "opera", "village feud", "amnesia", "train robbery", "beekeeping", "exile", "duel", "flood",
    "treasure map", "ghost story", "court trial", "circus", "code breaking",
)  # fmt: skip
_RATINGS = ("superb", "good", "fair", "poor")
_VOTES = ("famous", "well known", "little known")
_YEARS = range(1962, 2020, 3)


def film_triples(seed: int) -> list[Triple]:
    """The statements on all films, sorted: heads are films, relations are MetaQA's nine. Some facts are missing."""
    rng = random.Random(seed)
    return sorted(triple for title in TITLES for triple in _film(title, rng))


def _film(title: str, rng: random.Random) -> Iterator[Triple]:
    directors = rng.sample(_DIRECTORS, 2 if rng.random() < 0.15 else 1)
    writers = [directors[0]] if rng.random() < 0.3 else []
    writers += rng.sample(_WRITERS, 2 if rng.random() < 0.2 else 1) if not writers or rng.random() < 0.3 else []
    actors = rng.sample(_ACTORS, rng.randint(2, 4)) + ([directors[0]] if rng.random() < 0.1 else [])
    yield from _each(title, "directed_by", directors)
    yield from _each(title, "written_by", writers)
    yield from _each(title, "starred_actors", actors)
    yield from _each(title, "release_year", [str(rng.choice(_YEARS))])
    yield from _each(title, "in_language", rng.sample(_LANGUAGES, 1) if rng.random() < 0.9 else [])
    yield from _each(title, "has_genre", rng.sample(_GENRES, rng.choice((1, 1, 2))))
    yield from _each(title, "has_tags", rng.sample(_TAGS, rng.randint(0, 3)))
    yield from _each(title, "has_imdb_rating", rng.sample(_RATINGS, 1) if rng.random() < 0.5 else [])
    yield from _each(title, "has_imdb_votes", rng.sample(_VOTES, 1) if rng.random() < 0.4 else [])


def _each(title: str, relation: str, values: Sequence[str]) -> Iterator[Triple]:
    for value in values:
        yield title, relation, value
