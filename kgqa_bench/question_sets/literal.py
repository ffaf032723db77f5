r"""Lists of texts written as Python prints them (``['a', "b's"]``), read without running anything."""

from __future__ import annotations

import re

_ITEM = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?))\s*(,|(?=\]))""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


def read_list(written: str) -> tuple[str, ...]:
    """The texts of a list; numbers are given as they are written. ValueError where it is no such list."""
    body = written.strip()
    if not (body.startswith("[") and body.endswith("]")):
        raise ValueError(f"{written[:60]!r} is no list.")
    items: list[str] = []
    at = 1
    while body[at:].strip() != "]":
        found = _ITEM.match(body, at)
        if found is None:
            raise ValueError(f"{written[:60]!r} is no list of texts.")
        single, double, number = found.group(1, 2, 3)
        items.append(number if number is not None else _unescaped(single if single is not None else double))
        at = found.end()
    return tuple(items)


def _unescaped(quoted: str) -> str:
    if "\\" not in quoted:
        return quoted

    def letter(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) > 1:
            return chr(int(code[1:], 16))
        if code not in _LETTERS:
            raise ValueError(f"{match[0]!r} is no escape sequence that is known.")
        return _LETTERS[code]

    return _ESCAPE.sub(letter, quoted)
