"""Batches of games: where they are kept (CPU threads, GPU), policies, and one learner among opponents."""
