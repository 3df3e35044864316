"""What the chat's screens are made of, one widget per file."""
