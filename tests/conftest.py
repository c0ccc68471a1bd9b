"""How hypothesis looks: at new examples on a developer's machine, at the same ones in every CI run."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "posterior",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("posterior")
