"""config.toml: its settings, reading, checking and writing."""
