"""The web application: `python -m server.app` in the folder above.

It answers this machine only; with `--host 0.0.0.0`, or GARDEN_HOST in a platform that imports `app`, it answers everybody.
"""

import argparse
import os

import uvicorn
from fastapi import FastAPI
from garden_agents.play.origin import SameOrigin

from openenv.core.env_server.http_server import create_app

try:
    from ..models import GardenAction, GardenObservation
    from .environment import GardenEnvironment
except ImportError:  # run from the folder above
    from models import GardenAction, GardenObservation
    from server.environment import GardenEnvironment

HOST = os.environ.get("GARDEN_HOST", "127.0.0.1")


def make_app(host: str) -> FastAPI:
    """Return the application for this address; pages of other sites may not use it."""
    app = create_app(
        GardenEnvironment, GardenAction, GardenObservation, env_name="garden", max_concurrent_envs=64
    )
    app.add_middleware(SameOrigin, host=host)
    return app


app = make_app(HOST)


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description="Serve games for language models.")
    parser.add_argument("--host", default=HOST)
    parser.add_argument("--port", type=int, default=8000)
    arguments = parser.parse_args()
    uvicorn.run(make_app(arguments.host), host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
