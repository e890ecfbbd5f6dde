"""Ways of training a network, and what they share: arguments, the run's folder, opponents, checkpoints."""
