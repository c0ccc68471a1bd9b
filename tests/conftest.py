"""How hard hypothesis looks: the default run is quick, the long runs look a hundred times as far."""

from hypothesis import HealthCheck, settings

settings.register_profile("posterior", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("posterior")
