"""The relations of ConceptNet 5 in words, to stand between head and tail."""

from __future__ import annotations

import re

RELATIONS = {
    "Antonym": "is the opposite of",
    "AtLocation": "is found at",
    "CapableOf": "can",
    "Causes": "causes",
    "CausesDesire": "makes one want",
    "CreatedBy": "is created by",
    "DefinedAs": "is defined as",
    "DerivedFrom": "is derived from",
    "Desires": "wants",
    "DistinctFrom": "is distinct from",
    "Entails": "entails",
    "EtymologicallyDerivedFrom": "comes from the word",
    "EtymologicallyRelatedTo": "shares its origin with the word",
    "FormOf": "is a form of the word",
    "HasA": "has",
    "HasContext": "is a term used in the context of",
    "HasFirstSubevent": "begins with",
    "HasLastSubevent": "ends with",
    "HasPrerequisite": "requires",
    "HasProperty": "has the property",
    "HasSubevent": "includes the event",
    "InheritsFrom": "inherits from",
    "InstanceOf": "is an instance of",
    "IsA": "is a kind of",
    "LocatedNear": "is located near",
    "LocationOfAction": "is the place to",
    "MadeOf": "is made of",
    "MannerOf": "is a way to",
    "MotivatedByGoal": "is motivated by the goal",
    "NotCapableOf": "cannot",
    "NotCauses": "does not cause",
    "NotDesires": "does not want",
    "NotHasA": "does not have",
    "NotHasProperty": "does not have the property",
    "NotIsA": "is not a kind of",
    "NotMadeOf": "is not made of",
    "NotUsedFor": "is not used for",
    "ObstructedBy": "is obstructed by",
    "PartOf": "is part of",
    "ReceivesAction": "can be",
    "RelatedTo": "is related to",
    "SimilarTo": "is similar to",
    "SymbolOf": "is a symbol of",
    "Synonym": "means the same as",
    "UsedFor": "is used for",
    "dbpedia/capital": "has the capital",
    "dbpedia/field": "works in the field of",
    "dbpedia/genre": "has the genre",
    "dbpedia/genus": "belongs to the genus",
    "dbpedia/influencedBy": "is influenced by",
    "dbpedia/knownFor": "is known for",
    "dbpedia/language": "has the language",
    "dbpedia/leader": "is led by",
    "dbpedia/occupation": "has the occupation",
    "dbpedia/product": "makes the product",
}


def relation_words(name: str) -> str:
    """A relation in words; one that the table lacks is taken apart at its capitals."""
    known = RELATIONS.get(name)
    if known is not None:
        return known
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.rpartition("/")[2]).replace("_", " ").lower()
