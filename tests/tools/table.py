"""A table for tests: one game and its state, played by the kernels alone."""

import numpy as np

from garden_core.jit import kernels


class Table:
    """One game and its state; `now` is the snapshot."""

    def __init__(self, game):
        self.game = game
        self.states = game.new_states(1)
        self.state = self.states[0]
        self.params = game.params[0]

    def copy(self):
        """Return a second table with the same position."""
        other = object.__new__(type(self))
        Table.__init__(other, self.game)
        other.states[:] = self.states
        return other

    def described(self, label):
        """Return the description of an action."""
        return self.game.describe(self.state, self.game.labels.index(label))

    def resampled(self, seat, seed):
        """Return a copy in which everything that a seat cannot know is redrawn."""
        other = self.copy()
        kernels.resample(other.state, other.params, seat, seed)
        return other

    def deal(self, seed=0):
        kernels.deal(self.state, self.params, seed)
        return self

    def take(self, *labels):
        """Take the actions with these labels, each of which must be legal then."""
        for label in labels:
            assert label in self.legal, f"{label} is not among {self.legal}"
            kernels.apply_action(self.state, self.params, self.game.labels.index(label))
        return self

    @property
    def legal(self):
        mask = np.full(self.game.num_actions, 77, np.int8)
        count = kernels.legal_actions(self.state, self.params, mask)
        assert count == mask.sum()
        assert set(mask.tolist()) <= {0, 1}
        return [self.game.labels[action] for action in np.flatnonzero(mask)]

    @property
    def now(self):
        return self.game.snapshot(self.state)

    @property
    def scores(self):
        return self.now["scores"]

    @property
    def to_move(self):
        return self.now["current_player"]

    @property
    def over(self):
        return bool(self.state["terminated"] or self.state["truncated"])

    @property
    def standings(self):
        out = np.zeros(len(self.state["paid"]), np.int32)
        kernels.standings(self.state, self.params, out)
        return out[: self.game.num_players].tolist()

    @property
    def rewards(self):
        return self.state["rewards"][: self.game.num_players].tolist()

    def observation(self, seat):
        out = np.full(self.game.observation_size, 77, np.int8)
        kernels.observe(self.state, self.params, seat, out)
        return out.reshape(self.game.observation_shape)
