"""Commands on an answer: copy it."""

from __future__ import annotations

from tui.chat.topic import Topic
from tui.wording import answer_markdown


class AnswerTopic(Topic):
    """/copy"""

    def action_copy_answer(self) -> None:
        answer = self.conversation.transcript.selected
        if answer is None or not answer.text:
            self.show_message("There is no answer to copy yet.", "warning")
        else:
            self.page.app.copy_to_clipboard(answer_markdown(answer.text, answer.citations))
            self.show_message("Answer copied, with its sources.")
