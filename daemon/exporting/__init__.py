"""Exports as files, written atomically and without overwriting other files."""
