"""Where numba keeps the compiled kernels; import ``njit`` from here, never from numba."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import numba

from kgqa_bench.storage import cache_folder

_log = logging.getLogger(__name__)

if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache_folder("numba"))
if next(Path(numba.config.CACHE_DIR).rglob("*kernels*.nbi"), None) is None:
    _log.info("Compiling the graph kernels (once; they are kept in %s).", numba.config.CACHE_DIR)

njit = numba.njit(cache=True, nogil=True)
