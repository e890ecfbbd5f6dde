"""Policy and value networks: their inputs, layers, files, and a network as an agent."""
