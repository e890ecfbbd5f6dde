"""Methods of training a network, and what they share: arguments, run folder, opponent pool, checkpoints."""
