"""The loops of the search as kernels of a GPU: a thread for each search calls the same functions."""

from __future__ import annotations

import numpy as np

from garden_agents.search.backup import back_up_leaf
from garden_agents.search.halving import halve_search, read_search
from garden_agents.search.selection import Descent, descend_search
from garden_core.batch.choices import scratch_of
from garden_core.batch.gpu_kernels import cuda, kernel


@kernel
def descend(trees, scratches, states, params, rows, selection, leaves, rng_states):
    search = cuda.grid(1)
    if search < rows.shape[0]:
        group, exploration, others = selection
        descent = Descent(rows[search], np.int64(search), group, exploration, others)
        scratch, rng_state = scratch_of(scratches, search), rng_states[rows[search]]
        descend_search(trees, scratch, states, params, descent, leaves, rng_state)


@kernel
def back_up(trees, group, params, rows, leaves, judged, sums):
    search = cuda.grid(1)
    if search < rows.shape[0]:
        values, points = sums
        for i in range(search * group, (search + 1) * group):
            path, leaf = (trees.path[i], leaves.lengths[i]), (leaves.states[i], leaves.masks[i])
            found = judged[0][i], judged[1][i]
            back_up_leaf(trees.nodes[search], path, params, leaf, found, values[search], points[search])


@kernel
def halve(trees, states, rows, masks, noise, counts, scale, scores):
    search = cuda.grid(1)
    if search < rows.shape[0]:
        tree = trees.nodes[search], trees.considered[search]
        root = states[rows[search]], masks[rows[search]], noise[search]
        halve_search(*tree, *root, counts[search], scale, scores[search])


@kernel
def read(trees, states, params, rows, choices, scale, scores, found):
    search = cuda.grid(1)
    if search < rows.shape[0]:
        row = rows[search]
        masks, noise = choices
        visits, values, shares, actions = found
        root = trees.nodes[search], trees.considered[search], states[row], params
        into = visits[search], values[search], shares[search]
        choice = masks[row], noise[search]
        actions[search] = np.int64(read_search(*root, choice, scale, scores[search], into))
