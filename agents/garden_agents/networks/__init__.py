"""Policy and value networks: their inputs, layers, files, and a network as an agent."""

__all__ = ["NETWORK", "SUFFIX"]

SUFFIX = ".safetensors"
"""How the name of a network's file ends."""
NETWORK = f"network{SUFFIX}"
"""The network in the folder of a training run."""
