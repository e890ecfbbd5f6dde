"""Policy and value networks: inputs, layers, files, and agents that play with them."""

__all__ = ["NETWORK", "SUFFIX"]

SUFFIX = ".safetensors"
"""Suffix of network files."""
ONNX = ".onnx"
"""Suffix of ONNX files."""
NETWORK = f"network{SUFFIX}"
"""Name of the network file in the folder of a training run."""
