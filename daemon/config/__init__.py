"""config.toml: its settings, how it is read, checked and written."""
