"""What the documentation of a settings class says, read back for ``kgqa-bench info``.

A setting is described by its field, or in the docstring of its class or of one it inherits from: an indented line
``name: text`` below ``Attributes:``, and the lines indented further.
"""

from __future__ import annotations

import inspect
import re

from kgqa_bench.contracts import PluginSettings

_ENTRY = re.compile(r"(?P<indent> +)(?P<name>\w+): (?P<text>.+)")


def describe(settings: type[PluginSettings]) -> dict[str, str]:
    """The description of each setting that has one: its field's, else its class's, else that of the nearest base."""
    found: dict[str, str] = {}
    for docstring in reversed(_docstrings(settings)):
        lines = docstring.partition("Attributes:\n")[2].splitlines()
        for number, line in enumerate(lines):
            entry = _ENTRY.fullmatch(line)
            if entry and entry["name"] in settings.model_fields:
                text = [entry["text"]]
                for further in lines[number + 1 :]:
                    if not further.startswith(entry["indent"] + " "):
                        break
                    text.append(further.strip())
                found[entry["name"]] = " ".join(text)
    return found | {name: field.description for name, field in settings.model_fields.items() if field.description}


def remarks(settings: type[PluginSettings]) -> list[str]:
    """The class's summary, and what it and its bases say about no single setting: paragraphs that head no list."""
    own, *bases = [docstring.split("\n\n") for docstring in _docstrings(settings)] or [[""]]
    paragraphs = [*own, *(paragraph for base in bases for paragraph in base[1:])]
    return [
        " ".join(paragraph.split())
        for paragraph in paragraphs
        if paragraph[:1].strip() and not paragraph.startswith("Attributes:") and not paragraph.endswith(":")
    ]


def _docstrings(settings: type[PluginSettings]) -> list[str]:
    """Of the class and its bases, the class first."""
    classes = [each for each in settings.__mro__ if issubclass(each, PluginSettings) and each is not PluginSettings]
    return [inspect.cleandoc(vars(each).get("__doc__") or "") for each in classes]
