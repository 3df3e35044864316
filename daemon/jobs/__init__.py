"""Background work: the writer, long tasks, models, nightly jobs."""
