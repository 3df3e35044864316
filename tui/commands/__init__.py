"""What the slash commands and keys of the chat do, by topic: each module is a part of the chat's screen."""
