"""Training methods and their common parts: arguments, run folder, opponent pool, checkpoints."""
