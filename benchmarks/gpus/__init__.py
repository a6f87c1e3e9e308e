"""What the benchmark of a GPU is made of."""
