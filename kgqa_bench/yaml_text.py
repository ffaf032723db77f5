"""YAML as people write it by hand: plain values, no aliases, no key twice, no bottomless nesting."""

from __future__ import annotations

from typing import Any

import yaml

_DEEPEST = 50


class YamlLoader(yaml.SafeLoader):
    """Safe, and strict: an alias may unfold into more than memory holds, and of two equal keys one would be lost."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """One node of the document."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        start: Any = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not read", start)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise yaml.composer.ComposerError(None, None, f"nested more than {_DEEPEST} levels deep", start)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping whose keys differ."""
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key.value!r} is there twice", key.start_mark
                    )
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep=deep)


def read_yaml(text: str) -> Any:
    """The value of a YAML document.

    Raises:
        yaml.YAMLError: With ``problem``, and ``problem_mark`` where the place is known.
    """
    try:
        return yaml.load(text, Loader=YamlLoader)  # noqa: S506 - a safe loader
    except (ValueError, OverflowError) as problem:  # a value like 2020-13-45 that reads as a date
        raise yaml.YAMLError(str(problem)) from problem
