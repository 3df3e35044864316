"""The memory of the tests of answers, with its two models, is that of the agent as well."""

from tests.memory.answering.conftest import desk as desk
