"""The original AMIE 3, where a user has its jar, behind the contract of miners.

The graph is handed over in numbers, so that no name of it can be misread, and AMIE's rules come back by name. AMIE
prints rules and log into one stream; they are told apart by ``kgqa_bench.horn.rule_files``.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from kgqa_bench import registry
from kgqa_bench.contracts import Miner, MiningProgress, MiningSettings
from kgqa_bench.errors import (
    ConfigError,
    DataError,
    DataNotFoundError,
    KgqaBenchError,
    MissingDependencyError,
    PluginError,
)
from kgqa_bench.graph.protocol import Graph
from kgqa_bench.horn.rule import Atom, MinedRule, Rule, canonical_rule
from kgqa_bench.horn.rule_files import RuleFile, read_rules
from kgqa_bench.storage import atomic_write, cache_folder, user_path

_log = logging.getLogger(__name__)

_OUT_OF_MEMORY = "OutOfMemoryError"
_TAIL = 2_000  # letters of the log in a message


class AmieJarSettings(MiningSettings):
    """Settings of AMIE 3's jar. Its skyline depends on the order of its queue, so rules may differ between runs."""

    jar: Path | None = Field(default=None, description="AMIE 3's jar.")
    java: str = Field(default="java", min_length=1, description="The program that runs it.")
    max_memory: str | None = Field(
        default=None,
        pattern=r"^\d+[kKmMgG]$",
        description="Most memory of its heap, such as 8g; none for Java's own.",
    )
    timeout: float | None = Field(default=None, gt=0, description="Seconds after which it is ended; none for never.")
    log: Path | None = Field(default=None, description="File for its log; none for one in the cache folder.")


class MissingProgramError(MissingDependencyError):
    """A program that is no Python package is not there."""

    def __init__(self, message: str, hint: str) -> None:
        KgqaBenchError.__init__(self, message, hint=hint)


class AmieJar(Miner):
    """The original AMIE 3 (Lajus, Galárraga and Suchanek 2020) from its jar, run by Java."""

    Settings = AmieJarSettings

    def mine(self, graph: Graph, progress: MiningProgress | None = None) -> list[MinedRule]:
        """All rules that AMIE prints, by (head relation, PCA confidence falling, text of the rule).

        Raises:
            MissingDependencyError: There is no Java, or no jar is given.
            DataNotFoundError: There is no file where the jar is said to be.
            UnknownNameError: A head relation asked for is not in the graph.
            ConfigError: AMIE ran out of memory, or was not done in time.
            PluginError: AMIE failed, or printed what cannot be read; its log is kept.
        """
        java, jar = self._programs()
        heads = [graph.relation(name) for name in self.settings.relations]
        log = self._log_path(graph)
        with tempfile.TemporaryDirectory(prefix="kgqa-bench-amie-") as temporary:
            folder = Path(temporary)
            triples = folder / "graph.tsv"
            sizes = _write_triples(graph, triples)
            command = [java, *self._java_options(), "-jar", str(jar), *self._options(heads), str(triples)]
            if progress is not None:
                progress("AMIE 3", 0, 1)
            code = self._run(command, folder, log)
            found = _read_output(folder / "output", folder / "errors", code, log, self.settings)
        if progress is not None:
            progress("AMIE 3", 1, 1)
        _log.info("AMIE's log is in %s.", log)
        numbers = {f"r{relation}": relation for relation in sizes}
        rules = [_by_name(mined, graph, numbers, sizes) for mined in found]
        return sorted(rules, key=lambda mined: (mined.rule.head, -mined.pca_confidence, str(mined.rule)))

    def measure(self, graph: Graph, rules: Sequence[Rule]) -> list[MinedRule]:
        """The counts of given rules, by the native miner: AMIE counts only what it finds. Errors as there."""
        native: Miner = registry.create("miners", "native", {"threads": self.settings.threads})
        return native.measure(graph, rules)

    def _programs(self) -> tuple[str, Path]:
        if self.settings.jar is None:
            raise MissingProgramError(
                "The miner amie-jar needs AMIE 3's jar.",
                "Download it from https://github.com/dig-team/amie (CC BY-NC 4.0) and give it by --jar PATH, or mine "
                "with --miner native.",
            )
        jar = user_path(self.settings.jar).resolve()
        if not jar.is_file():
            raise DataNotFoundError(f"There is no file {jar}.", hint="Give AMIE 3's jar by --jar PATH.")
        java = shutil.which(self.settings.java)
        if java is None:
            raise MissingProgramError(
                f"The miner amie-jar needs Java, and there is no program {self.settings.java!r}.",
                "Install a Java runtime (11 or later), or mine with --miner native.",
            )
        return java, jar

    def _java_options(self) -> list[str]:
        # numbers with a decimal point whatever the user's language
        options = ["-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"]
        return options if self.settings.max_memory is None else [f"-Xmx{self.settings.max_memory}", *options]

    def _options(self, heads: Sequence[int]) -> list[str]:
        settings = self.settings
        # Pruning by head coverage is AMIE's default. Asked for by -pm, it drops the threshold in some versions.
        options = {
            "-maxad": settings.max_length,
            "-minhc": settings.min_head_coverage,
            "-minc": settings.min_std_confidence,
            "-minpca": settings.min_pca_confidence,
            "-minis": settings.min_head_size,
        }
        if settings.threads:
            options["-nc"] = settings.threads
        if heads:
            options["-htr"] = ",".join(f"r{relation}" for relation in heads)
        return [word for name, value in options.items() for word in (name, str(value))]

    def _log_path(self, graph: Graph) -> Path:
        if self.settings.log is None:
            return cache_folder("amie") / f"{graph.fingerprint[:16]}.log"
        path = user_path(self.settings.log)
        if not path.parent.is_dir():
            raise ConfigError(f"There is no folder {path.parent} for AMIE's log.", hint="Make it, or choose another.")
        return path

    def _run(self, command: Sequence[str], folder: Path, log: Path) -> int:
        """Run AMIE in ``folder``; its exit code. It is ended with all that it started however this process ends."""
        with (
            (folder / "output").open("wb") as output,
            (folder / "errors").open("wb") as errors,
            _guarded(command, folder, output.fileno(), errors.fileno()) as process,
        ):
            try:
                return process.wait(self.settings.timeout)
            except subprocess.TimeoutExpired:
                pass
        _keep_log(log, folder / "output", folder / "errors")
        raise ConfigError(
            f"AMIE was not done after {self.settings.timeout:g} s and was ended; its log is {log}.",
            hint="Give it more time, raise the thresholds, or mine with --miner native.",
        )


@contextlib.contextmanager
def _guarded(command: Sequence[str], folder: Path, output: int, errors: int) -> Iterator[subprocess.Popen[bytes]]:
    """A running command behind the guard of ``kgqa_bench.llm.child``, which ends it when the block is left."""
    process = subprocess.Popen(  # noqa: S603 - no shell; program and jar are the user's own
        [sys.executable, "-m", "kgqa_bench.llm.child", *command],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=errors,
        cwd=folder,
        start_new_session=True,  # Ctrl-C is for this process, which then ends the other in order
    )
    try:
        yield process
    finally:
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        process.wait()


def _write_triples(graph: Graph, path: Path) -> dict[int, int]:
    """Write the graph by ids; the number of facts of each relation."""
    sizes: dict[int, int] = {}
    with path.open("w", encoding="ascii", newline="\n") as stream:
        for head, relation, tail, _confidence in graph.quads():
            stream.write(f"e{head}\tr{relation}\te{tail}\n")
            sizes[relation] = sizes.get(relation, 0) + 1
    return sizes


def _read_output(output: Path, errors: Path, code: int, log: Path, settings: AmieJarSettings) -> list[MinedRule]:
    try:
        found: RuleFile | None = read_rules(output)
        problem = ""
    except DataError as error:
        found, problem = None, error.message.replace(str(output), "its output")
    measured = found.measured if found is not None and found.complete else None
    if code == 0 and found is not None and measured is not None:
        _keep_log(log, errors, lines=found.log)
        return measured
    _keep_log(log, output, errors)
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    if _OUT_OF_MEMORY in said:
        raise ConfigError(
            f"AMIE ran out of memory (max_memory is {settings.max_memory or 'not set'}); its log is {log}.",
            hint="Set max_memory higher, raise the thresholds, or mine with --miner native.",
        )
    if code != 0:
        problem = f"it ended with exit code {code}: {said[-_TAIL:] or 'it printed nothing'}"
    raise PluginError(
        f"AMIE failed: {problem or 'its output does not end with the number of rules'}; its log is {log}.",
        hint="Check that --jar is AMIE 3's jar and that Java can run it.",
    )


def _keep_log(log: Path, *files: Path, lines: Sequence[str] = ()) -> None:
    with atomic_write(log) as stream:
        for path in files:
            with path.open("rb") as source:
                shutil.copyfileobj(source, stream)
        stream.writelines(f"{line}\n".encode() for line in lines)


def _by_name(mined: MinedRule, graph: Graph, numbers: dict[str, int], sizes: dict[int, int]) -> MinedRule:
    """A rule by the graph's names."""
    try:
        head = numbers[mined.rule.head]
        body = [Atom(graph.relation_name(numbers[atom.relation]), *atom[1:]) for atom in mined.rule.body]
    except KeyError as problem:
        raise PluginError(f"AMIE names a relation {problem} that it was not given.") from problem
    if mined.head_size != sizes[head]:
        raise PluginError(
            f"AMIE counts {mined.head_size} facts of {graph.relation_name(head)!r}, which has {sizes[head]}.",
            hint="Check that --jar is AMIE 3's jar.",
        )
    return replace(mined, rule=canonical_rule(graph.relation_name(head), body))
