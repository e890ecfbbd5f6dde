"""The command `garden`, as `python -m garden_agents`."""

from garden_agents.commands import main

main()
