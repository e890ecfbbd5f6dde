"""The loops of `garden_agents.search.tree` as kernels of a GPU: a thread for each search calls the same functions."""

from __future__ import annotations

import numpy as np

from garden_agents.search.tree import (
    Descent,
    Leaves,
    Tree,
    back_up_leaf,
    descend_search,
    halve_search,
    read_search,
)
from garden_core.choices import Scratch
from garden_core.gpu_kernels import cuda, kernel

__all__ = ["back_up", "descend", "halve", "read"]


@kernel
def descend(
    nodes,
    used,
    paths,
    considered,
    work,
    masks,
    points,
    action_values,
    states,
    params,
    rows,
    group,
    exploration,
    others,
    redraws,
    likelihoods,
    lengths,
    leaves,
    observations,
    leaf_masks,
    rng_states,
):
    search = cuda.grid(1)
    if search < rows.shape[0]:
        scratch = Scratch(work[search], masks[search], points[search], action_values[search])
        places = Leaves(redraws, likelihoods, lengths, leaves, observations, leaf_masks)
        trees = Tree(nodes, used, paths, considered)
        descent = Descent(rows[search], np.int64(search), group, exploration, others)
        descend_search(trees, scratch, states, params, descent, places, rng_states[rows[search]])


@kernel
def back_up(
    nodes, paths, group, lengths, params, leaves, leaf_masks, probabilities, estimates, values, points
):
    search = cuda.grid(1)
    if search < values.shape[0]:
        for i in range(search * group, (search + 1) * group):
            path, leaf = (paths[i], lengths[i]), (leaves[i], leaf_masks[i])
            judged = probabilities[i], estimates[i]
            back_up_leaf(nodes[search], path, params, leaf, judged, values[search], points[search])


@kernel
def halve(nodes, considered, states, rows, masks, noise, counts, scale, scores):
    search = cuda.grid(1)
    if search < rows.shape[0]:
        root = nodes[search], considered[search], states[rows[search]], masks[rows[search]], noise[search]
        halve_search(*root, counts[search], scale, scores[search])


@kernel
def read(
    nodes, considered, states, params, rows, masks, noise, scale, scores, visits, values, shares, actions
):
    search = cuda.grid(1)
    if search < rows.shape[0]:
        row = rows[search]
        choice, found = (masks[row], noise[search]), (visits[search], values[search], shares[search])
        root = nodes[search], considered[search], states[row], params, choice
        actions[search] = np.int64(read_search(*root, scale, scores[search], found))
