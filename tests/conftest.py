"""What holds for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# The same examples in every run: a change that fails must be at fault itself. To look for new ones:
# HYPOTHESIS_PROFILE=explore make test
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
