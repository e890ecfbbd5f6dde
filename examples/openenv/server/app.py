"""The web application: `python -m server.app` in the folder above."""

import argparse

import uvicorn

from openenv.core.env_server.http_server import create_app

try:
    from ..models import GardenAction, GardenObservation
    from .environment import GardenEnvironment
except ImportError:  # run from the folder above
    from models import GardenAction, GardenObservation
    from server.environment import GardenEnvironment

app = create_app(
    GardenEnvironment, GardenAction, GardenObservation, env_name="garden", max_concurrent_envs=64
)


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description="Serve games for language models.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    uvicorn.run(app, host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
