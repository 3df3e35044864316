"""The memory of the tests of answers, with its two models, is that of the agent as well."""

import pytest

from memory import Memory
from tests.memory.answering.conftest import desk as desk
from tests.memory.conftest import OpenFilled
from tests.memory.exploring.pages import fill


@pytest.fixture
def chain(open_filled: OpenFilled) -> Memory:
    """A memory of pages that lead one to the other, among others that do not."""
    return open_filled(fill)
