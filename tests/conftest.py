"""Hypothesis profiles: everyday, CI, and the long form behind `make soak`."""

import os

from hypothesis import HealthCheck, settings

quiet = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", max_examples=60, **quiet)
settings.register_profile("soak", max_examples=1000, **quiet)
settings.load_profile("soak" if os.environ.get("COBRAS_SOAK") else "default")
