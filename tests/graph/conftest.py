"""Property tests may compile a kernel while an example runs: no example is too slow."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("compiled", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("compiled")
