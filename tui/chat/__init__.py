"""The page of the chat: its topics, each with its commands, and its widgets."""
