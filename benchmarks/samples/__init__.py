"""Documents of each format, made of unique words: `benchmarks.formats` looks for them in what the readers return."""
