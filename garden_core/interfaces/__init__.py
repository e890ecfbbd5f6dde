"""One module for each client library, imported on demand: PettingZoo, Gymnasium, Stable-Baselines3."""
