"""The chat's screens, one per file."""
