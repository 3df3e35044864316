"""Completions while typing."""

from __future__ import annotations

from daemon import wire
from daemon.client.client import DaemonDownError, DaemonError
from tui.chat.topic import Topic, background
from tui.completion import (
    Suggestion,
    Typing,
    complete_path,
    describe_model,
    suggest_notes,
    suggest_now,
    suggest_tags,
    suggest_usage,
    suggest_words,
)
from tui.link import EFFORTS
from tui.widgets.prompt import Suggestions

MAX_NOTES = 200  # the newest, in which letters that are left out are looked for; more are found by what is typed


class CompletionTopic(Topic):
    """Tab, and the suggestions above the prompt."""

    @property
    def suggestions(self) -> Suggestions:
        return self.page.query_one(Suggestions)

    def suggest(self) -> None:
        """Shows completions of the word at the cursor."""
        typing = self.page.prompt.typing
        if typing is None:
            self.suggestions.show(None, ())
        elif (suggestions_now := suggest_now(typing)) is not None:
            self.suggestions.show(typing, suggestions_now)
        else:
            self._ask_for(typing)

    @background("suggestions")
    async def _ask_for(self, typing: Typing) -> None:
        try:
            suggestions = await self._suggest(typing)
        except (DaemonError, DaemonDownError):
            suggestions = []  # the line at the top says that the memory does not answer
        if typing == self.page.prompt.typing:
            self.suggestions.show(typing, suggestions or suggest_usage(typing))

    async def _suggest(self, typing: Typing) -> list[Suggestion]:
        query = typing.query
        match typing.kind:
            case "tag":
                return suggest_tags(query, await self.link.call(lambda client: client.tags()))
            case "name":
                names = await self.link.call(lambda client: client.names_beginning(query)) if query else ()
                return [Suggestion(name, "", name) for name in names]
            case "effort":
                return suggest_words(query, EFFORTS.items())
            case "model":
                models = (await self.link.call(lambda client: client.models())).models
                return suggest_words(query, [(row.name, describe_model(row)) for row in models])
            case "theme":
                return suggest_words(query, [(name, "") for name in sorted(self.page.app.available_themes)])
            case _:
                return suggest_notes(typing, await self._notes(query), self.page.folders)

    async def _notes(self, query: str) -> list[wire.ListedSource]:
        newest = (await self.link.call(lambda client: client.sources("", MAX_NOTES))).sources
        fitting = (await self.link.call(lambda client: client.sources(query, MAX_NOTES))).sources if query else ()
        return list({source.uri: source for source in (*fitting, *newest)}.values())

    async def action_complete(self) -> None:
        typing = self.page.prompt.typing
        if typing is None:
            await self.page.run_action("leave_prompt")
            return
        if typing.kind == "path" and not self.suggestions.is_moved:
            completed = complete_path(typing.query)
            if completed != typing.query:
                self.suggestions.show(typing, ())
                self.page.prompt.take(Suggestion(completed, "", completed))
                return
        suggestion = self.suggestions.highlighted_for(typing)
        if suggestion is None:  # typed faster than it was shown
            suggestion = next((candidate for candidate in suggest_now(typing) or () if candidate.can_be_taken), None)
            self.suggestions.show(typing, ())
        if suggestion is not None:
            self.page.prompt.take(suggestion)
