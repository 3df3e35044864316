"""What holds for all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from daemon import starting
from tests import fork_server

spawn_cold = starting.spawn

# The same examples in every run: a change that fails must be at fault itself. To look for new ones, and more of them:
# HYPOTHESIS_PROFILE=explore make test. No example has a deadline: a busy machine is no fault of what is tested.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("explore", derandomize=False, deadline=None, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Where the tests are run in the background, Ctrl-C may be switched off, and so it would be in what they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def warm_daemons() -> Iterator[None]:
    """Daemons are forked from a process that has imported all they need, which saves a second and a half for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting, "spawn", fork_server.spawn)
        yield


@pytest.fixture
def cold_daemons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Daemons are new interpreters, as they are for everybody else."""
    monkeypatch.setattr(starting, "spawn", spawn_cold)
