"""ComplexWebQuestions (Talmor and Berant, NAACL 2018): made of WebQSP's, answered from Freebase within four hops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ._base import HubName
from ._freebase import FreebaseSet, FreebaseSettings, Split


class CwqSettings(FreebaseSettings):
    """The test split: 3,531 questions in RoG's set."""

    hub: HubName = "rmanluo/RoG-cwq"


class Cwq(FreebaseSet):
    """ComplexWebQuestions: 3,531 test questions, each with its own part of Freebase."""

    Settings = CwqSettings
    folder = "cwq"
    official: ClassVar[Mapping[Split, int]] = {"train": 27639, "dev": 3519, "test": 3531}
    exemplar_split = "dev"  # a tenth of what train takes to download
