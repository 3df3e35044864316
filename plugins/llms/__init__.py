"""Language models: what they have in common, and those of Ollama and Anthropic."""
