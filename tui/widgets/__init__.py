"""The widgets of the chat's screens, one per file."""
