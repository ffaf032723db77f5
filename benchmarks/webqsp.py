"""WebQSP (Yih et al., ACL 2016): questions to a search engine, answered from Freebase within two hops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ._base import HubName
from ._freebase import FreebaseSet, FreebaseSettings, Split


class WebQspSettings(FreebaseSettings):
    """The test split: 1,628 questions in RoG's set, which leaves out those without an answer (1,639 with them)."""

    hub: HubName = "rmanluo/RoG-webqsp"


class WebQsp(FreebaseSet):
    """WebQSP: 1,628 test questions, each with its own part of Freebase."""

    Settings = WebQspSettings
    folder = "webqsp"
    official: ClassVar[Mapping[Split, int]] = {"test": 1628}
