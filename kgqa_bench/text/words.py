"""Words for entity linking: tokens, lemmas, stop words (English)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Letters and digits, an apostrophe inside a word (don't), plus signs and hashes at its end (c++, c#).
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*[+#]*")

# Function words, question words, and light verbs, nouns and adjectives that carry a question's wording, not
# its subject. None of them alone is a mention, nor is a phrase of nothing but them ("in the", "kind of", "used to").
_STOP_WORDS = """
a an the this that these those
i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one ones someone somebody something anyone anybody
anything everyone everybody everything nobody nothing none
who whom whose which what when where why how whatever whichever whoever wherever whenever
and or but nor so yet if then else than as because while although though unless until since whether
of in on at by for with about against between into through during before after above below to from up down out
off over under again near via per within without upon onto toward towards along across among around behind
beside besides beyond despite except like unlike throughout inside outside away
am is are was were be been being do does did doing done have has had having can could may might must shall should
will would ought not no yes cannot
don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't haven't hasn't hadn't
all any both each every either neither few many more most much less least several some such other another others
own same only just also too very even still ever never always often usually likely mostly probably possibly
perhaps maybe rather quite almost already really eventually actually typically generally certain able
here there now once thus hence therefore however instead next
get gets got getting gotten make makes made making go goes going gone went come comes came coming
take takes took taken taking put puts putting give gives gave given giving let lets keep keeps kept keeping
use uses used using need needs needed needing want wants wanted wanting try tries tried trying
find finds found finding know knows knew known knowing see sees saw seen seeing look looks looked looking
say says said saying tell tells told telling think thinks thought thinking mean means meant
become becomes became becoming seem seems seemed happen happens happened happening cause causes caused causing
involve involves involved involving require requires required requiring contain contains contained containing
include includes included including start starts started starting begin begins began beginning
decide decides decided deciding allow allows allowed allowing lead leads led leading
thing things way ways kind kinds type types sort sorts lot lots amount amounts number result results order example
examples part parts following called etc
good better best bad worse worst different main new
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def tokens(text: str) -> list[str]:
    """The words of a text or label: compatibility forms and case folded, hyphens split, possessive 's dropped."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
    return [word.removesuffix("'s") for word in _TOKEN.findall(text.casefold())]


@lru_cache(maxsize=1 << 20)
def lemma(token: str) -> str:
    """The dictionary form of an English word (simplemma); the word itself where it is not known.

    Words in -er and -est stay: more of them are names of things (Balder, runner, forest) than comparatives.
    """
    from simplemma import lemmatize

    if token.endswith(("er", "est")):
        return token
    return str(lemmatize(token, lang="en")).casefold()


def is_content(token: str) -> bool:
    """Whether a word alone may be a mention: no stop word, number or single letter."""
    return token not in STOP_WORDS and not token.isdecimal() and not (len(token) == 1 and token.isascii())
