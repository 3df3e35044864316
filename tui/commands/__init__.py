"""The handlers of slash commands and keys in the chat, by topic: each module is a part of the chat's screen."""
