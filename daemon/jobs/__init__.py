"""Work beside the questions: the writer, long tasks, what a model does in the background, what is done at night."""
