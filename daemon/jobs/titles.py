"""Names a chat session in a few words, by the model that answers, where that one is on this machine.

Nobody waits for it: it begins when no question runs any more, and ends with the next one; then the session keeps its
first question as its name. A model elsewhere is never asked: a name is not worth what that costs.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from daemon.jobs.writer import Writer
from daemon.terminal import TITLE_LENGTH, title_of
from memory import Memory
from memory.errors import ModelError, NotFoundError, StoreError
from memory.llm import LlmRequest, Message
from memory.protocols import ChooseLLM

log = logging.getLogger(__name__)

SYSTEM = (
    "You name conversations. Reply with a title of two to six words for the question, in the language of the question,"
    " and with nothing else."
)
MAX_TOKENS = 24
MAX_WORDS = 10  # more is no title
ANSWER_CHARS = 600  # of the answer, that the title may rest on
LOOK_SECONDS = 1.0  # between looks whether a question runs
PATIENCE_SECONDS = 60.0
_WRAPPING = re.compile(r"^[\s\"'“”„*#]*(?:title:)?[\s\"'“”„*#]*|[\s\"'“”.*]+$", re.IGNORECASE)


class Titles:
    """`busy` tells whether a person waits for an answer."""

    def __init__(self, memory: Memory, writer: Writer, choose: ChooseLLM, busy: Callable[[], bool]) -> None:
        self._memory = memory
        self._writer = writer
        self._choose = choose
        self._busy = busy
        self._closing = threading.Event()
        self._thread = ThreadPoolExecutor(1, "titles")  # one waits for quiet; nothing else may wait behind it

    def submit(self, chat: int) -> None:
        """Names a session as soon as nobody waits, unless the daemon ends."""
        with suppress(RuntimeError):
            self._thread.submit(self.name, chat)

    def close(self) -> None:
        """None is named any more."""
        self._closing.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def name(self, chat: int) -> None:
        """Names a session after its first answer, if it has its question for a name."""
        try:
            self._name(chat)
        except (ModelError, NotFoundError, StoreError, CancelledError) as error:
            log.info("chat session %d keeps its name: %s", chat, type(error).__name__)

    def _name(self, chat: int) -> None:
        conversation, messages = self._memory.conversations.get(chat)
        if len(messages) != 2 or messages[1].no_answer or conversation.title != title_of(messages[0].text):
            return
        waited = 0.0
        while self._busy():
            if self._closing.wait(LOOK_SECONDS) or (waited := waited + LOOK_SECONDS) > PATIENCE_SECONDS:
                return
        llm = self._choose(True)
        if llm is None or not llm.is_local:
            return
        question, answer = messages[0].text, messages[1].text[:ANSWER_CHARS]
        request = LlmRequest(
            messages=(Message("user", f"The question:\n{question}\n\nThe answer:\n{answer}\n\nThe title:"),),
            system=SYSTEM,
            max_tokens=MAX_TOKENS,
            purpose="title",
            cancelled=lambda: self._busy() or self._closing.is_set(),
        )
        if title := clean_title(llm.complete(request).text):
            self._writer.write(partial(self._rename, chat, conversation.title, title))

    def _rename(self, chat: int, before: str, title: str) -> None:
        """Unless somebody has named it meanwhile."""
        if self._memory.conversations.get(chat)[0].title == before:
            self._memory.conversations.rename(chat, title)


def clean_title(said: str) -> str:
    """What a model said as a title; "" if it is none."""
    first = next(filter(str.strip, said.splitlines()), "")
    title = " ".join(_WRAPPING.sub("", first).split())
    return title if len(title) <= TITLE_LENGTH and 0 < len(title.split()) <= MAX_WORDS else ""
