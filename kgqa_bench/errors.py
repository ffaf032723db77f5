"""The errors a caller may see.

KgqaBenchError
├── ConfigError            a flag, a setting or a YAML file is wrong
├── UnknownNameError       no plugin, entity, relation or setting of that name (with suggestions)
├── PluginError            a plugin is registered but cannot be loaded or breaks its contract
├── MissingDependencyError an optional package is not installed
├── DataError              a file's content is wrong; names file and line
├── DataNotFoundError      a data set or weights are not where they were looked for
├── RunDirectoryError      a run directory is damaged, in use or of another configuration
├── StorageError           a file cannot be written (full disk, permissions)
├── BudgetExceededError    the run's budget is used up; nothing more is asked
└── ModelError             a model gave no usable answer; ``reason`` says why
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


class KgqaBenchError(Exception):
    """Base class: ``message`` says what was wrong, ``hint`` what to do next."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        message = without_controls(message)
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class ConfigError(KgqaBenchError):
    """A flag, a setting or a configuration file is wrong."""


class UnknownNameError(KgqaBenchError):
    """No such name; suggests near ones."""

    def __init__(self, what: str, name: str, known: Iterable[str] = (), *, hint: str | None = None) -> None:
        self.what = what
        self.name = name
        self.suggestions = suggest(name, known)
        near = f"Did you mean {', '.join(self.suggestions)}?" if self.suggestions else None
        super().__init__(f"Unknown {what} {name!r}.", hint=" ".join(filter(None, (near, hint))) or None)


class PluginError(KgqaBenchError):
    """A registered plugin cannot be loaded or breaks its contract."""


class MissingDependencyError(KgqaBenchError):
    """An optional package is not installed."""

    def __init__(self, feature: str, package: str, *, extra: str | None = None) -> None:
        target = f"'kgqa-bench[{extra}]'" if extra else package
        super().__init__(f"{feature} needs the package {package}.", hint=f"Install it with: pip install {target}")


class DataError(KgqaBenchError):
    """The content of a file is wrong.

    Args:
        message: What is wrong.
        file: The file.
        line: Line number, counted from 1.
        row: The row's own id, where it has one.
        hint: What to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        row: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.file, self.line, self.row = file, line, row
        where = "" if file is None else f"{file}{'' if line is None else f', line {line}'}: "
        super().__init__(f"{where}{f'row {row!r}: ' if row is not None else ''}{message}", hint=hint)


class DataNotFoundError(KgqaBenchError):
    """A data set or weights are not where they were looked for."""


class RunDirectoryError(KgqaBenchError):
    """A run directory is damaged, in use, or belongs to another configuration."""


class StorageError(KgqaBenchError):
    """A file cannot be written."""


class BudgetExceededError(KgqaBenchError):
    """The run's budget of money, tokens or calls is used up."""


class ModelError(KgqaBenchError):
    """A model gave no usable answer.

    ``reason`` is one of ``rate_limit``, ``server_error``, ``timeout``, ``connection``, ``bad_response``,
    ``refused`` (the server rejects the request: wrong key, unknown model, too long) and ``unavailable``.
    """

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        retryable: bool = False,
        retry_after: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
        self.retryable = retryable
        self.retry_after = retry_after


def without_controls(text: str) -> str:
    """Text fit for a terminal: what files and servers say may hold escape sequences that move its cursor."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text)


def suggest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The names most like ``name``, best first."""
    from rapidfuzz import process, utils

    matches = process.extract(name, list(known), limit=limit, score_cutoff=70, processor=utils.default_process)
    return [match[0] for match in matches]
