"""Monte Carlo tree search in compiled code, for any game and any number of players.

The method is information-set Monte Carlo tree search with a single observer (P. Cowling, E. Powley, D. Whitehouse,
"Information Set Monte Carlo Tree Search", 2012): each simulation redraws hidden cards and chance (a determinization), a
node represents a sequence of actions and has a value for every seat, and selection counts how often an action was
available. Actions are selected by PUCT (D. Silver et al., "Mastering the game of Go without human knowledge", 2017). At
the root, sequential halving can distribute the simulations instead, weighing values and priors as in I. Danihelka et
al., "Policy improvement by planning with Gumbel", 2022.

A network supplies priors and values; the searches of a batch then run in step, and the network evaluates several leaves
of each in one pass. Without a network, priors come from greedy play's action values, and the value of a leaf from the
points after a short rollout.

Modules: `tree` (the arrays), `selection`, `expansion`, `values`, `backup`, `simulation` (all of these, without a
network), `stepping` (all of these, with one), `halving` (the root) and `agent` (the policy).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_core.game import Game
from garden_core.jit import compiled

EQUAL, GREEDY, NETWORK = 0, 1, 2
PRIORS = ("equal", "greedy")  # in the order of the codes above


class Tree(NamedTuple):
    """The arrays of one search, or with a leading dimension of several.

    Attributes:
        nodes: records (nodes,) of `node_type`.
        used: int64 (1,), number of nodes in use; set it to 0 for a new search.
        path: int64 (nodes,), indexes of the nodes that the current simulation has visited, from the root on.
        considered: int8 (num_actions,), 1 for the actions at the root that sequential halving still considers; all
            zeros for PUCT at the root.
    """

    nodes: np.ndarray
    used: np.ndarray
    path: np.ndarray
    considered: np.ndarray


def node_type(game: Game) -> np.dtype:
    """Return the record type of a node."""
    return np.dtype(
        [
            ("totals", "f8", game.max_players),  # by seat, sum of the values of its simulations
            ("priors", "f4", game.num_actions),  # the sum over the legal actions need not be 1
            ("children", "i4", game.num_actions),  # index of the node that an action leads to, or -1
            ("visits", "i4"),  # simulations that went through the node
            ("pending", "i4"),  # simulations whose values are not added yet
            ("available", "i4"),  # simulations in which its action was legal at the parent
            ("expanded", "i4"),  # 1 if the priors are filled
        ],
        align=True,
    )


@compiled
def reset_node(node):
    """Reset a node: no visits, children or priors."""
    node.totals[:] = 0.0
    node.children[:] = -1
    node.visits = 0
    node.pending = 0
    node.available = 0
    node.expanded = 0


class Leaves(NamedTuple):
    """The leaves that the simulations of several searches have reached; the leaves of a search are adjacent.

    Attributes:
        redraws: records (searches, number), states in which simulations start; each starts in a new redraw if number is 0.
        likelihoods: float64 (searches, number), the probabilities of the redraws.
        lengths: int64 (leaves,), lengths of the paths.
        states: state records (leaves,).
        observations: int8 (leaves, observation size), the observations of the players to move.
        masks: int8 (leaves, num_actions), their legal actions.
    """

    redraws: np.ndarray
    likelihoods: np.ndarray
    lengths: np.ndarray
    states: np.ndarray
    observations: np.ndarray
    masks: np.ndarray
