"""How much memory there is, so that a graph that is too large is refused before any work."""

from __future__ import annotations

import os
from pathlib import Path

from kgqa_bench.errors import ConfigError

_CGROUP = Path("/sys/fs/cgroup")


def require(needed: int, purpose: str) -> None:
    """Refuse what needs more memory than there is.

    Args:
        needed: Bytes.
        purpose: What they are for, after "Mining": ``rules of up to 4 atoms``.

    Raises:
        ConfigError: There is less.
    """
    free = available()
    if needed > free:
        raise ConfigError(
            f"Mining {purpose} needs about {_readable(needed)} of memory; there is {_readable(free)}.",
            hint="Raise min_head_coverage, name fewer relations, or lower max_length or threads.",
        )


def available() -> int:
    """Bytes that this process can still take: of the system, its control group and its own limit, the least."""
    sizes = (_system(), _group(), _own_limit())
    return min(size for size in sizes if size is not None)


def _system() -> int:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _group() -> int | None:
    try:
        most, used, counts = (
            (_CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current", "memory.stat")
        )
    except OSError:
        return None
    if not most.isdigit():
        return None
    # read files that the system keeps for as long as nobody needs the room count as used
    kept = dict(line.split() for line in counts.splitlines()).get("inactive_file", 0)
    return int(most) - int(used) + int(kept)


def _own_limit() -> int | None:
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limit, _hard = resource.getrlimit(resource.RLIMIT_AS)
    sizes = Path("/proc/self/statm")
    if limit == resource.RLIM_INFINITY or not sizes.exists():
        return None
    return limit - int(sizes.read_text().split()[0]) * resource.getpagesize()


def _readable(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{max(size, 0) / 2**20:.0f} MiB"
