"""What a person takes out of the memory, as files: never half a one, and none that was not written here is lost."""
