"""The options that mining and building share: which graph, and which of its rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

GRAPH, RULES = "Graph", "Rules"

Part = Annotated[
    str | None,
    typer.Option(
        help="Parts of the graph, separated by commas, or all. Default: facts (Family, UMLS) or train.",
        rich_help_panel=GRAPH,
    ),
]
Data = Annotated[
    Path | None, typer.Option(help="Folder of data sets. Default: KGQA_BENCH_DATA.", rich_help_panel=GRAPH)
]
People = Annotated[int | None, typer.Option(help="People of the graph family-synthetic.", rich_help_panel=GRAPH)]
MinHeadCoverage = Annotated[
    float | None, typer.Option(help="Least head coverage. Default: 0.1.", rich_help_panel=RULES)
]
MinStdConfidence = Annotated[
    float | None, typer.Option(help="Least standard confidence. Default: 0.3.", rich_help_panel=RULES)
]
MinPcaConfidence = Annotated[
    float | None, typer.Option(help="Least PCA confidence. Default: 0.4.", rich_help_panel=RULES)
]
MinHeadSize = Annotated[
    int | None, typer.Option(help="Fewest facts of a head relation. Default: 100.", rich_help_panel=RULES)
]
