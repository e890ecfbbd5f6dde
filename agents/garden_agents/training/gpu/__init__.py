"""What only a training on a GPU needs (`--device cuda`)."""
