"""Agents of one's own, named by import path: `own_agents:first_legal`."""


def first_legal(game, seed):
    """Take the first legal action."""
    return lambda batch, rows: batch.action_mask[rows].argmax(1)
