"""What the calls of `Memory` do: four services over one shared state."""
