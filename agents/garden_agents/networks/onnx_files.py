"""Networks in ONNX files: ours for other programs, and anyone's as agents.

Reading runs no code and opens no other file; it refuses subgraphs, so a network cannot loop.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import onnxruntime
from google.protobuf.message import DecodeError, Message
from onnxruntime.capi import onnxruntime_pybind11_state

from garden_agents.networks.all_seats import Values, network_values, valued_rows
from garden_agents.networks.heads import expected_values, probabilities
from garden_agents.networks.network import Inputs
from garden_agents.networks.network_agent import Description, NetworkAgent, described_network
from garden_core.batch.batch import Batch
from garden_core.checks import one_line, short
from garden_core.files.array_files import LIMIT
from garden_core.files.disk import read_regular, write_atomically
from garden_core.game import Game

KEY = "garden-envs"
"""Name of the metadata entry in files that `export_onnx` wrote: the description of the network, as JSON."""
NAMES = {1: ("features",), 2: ("features", "scalars")}
"""Names of a network's inputs by their number; a flat network without features reads "observation"."""
_OWN = [kind for kind in vars(onnxruntime_pybind11_state).values() if isinstance(kind, type)]
_ERRORS: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    *(kind for kind in _OWN if issubclass(kind, Exception)),
)
"""The errors of ONNX Runtime, which have no common class."""
TYPES = {"tensor(float)": np.float32, "tensor(int8)": np.int8}


def export_onnx(agent: NetworkAgent, path: str | Path) -> None:
    """Write a network as an ONNX file, which `load_agent` and other programs can read. Needs the extra `onnx`.

    The outputs are "logits", float32 (N, num_actions), of legal and illegal actions, and "value", the raw values, float32
    (N, num_values). The input is "observation", float32 (N, observation size). Networks that read a game's features
    instead have the inputs "features", float32 (N, …), and for a board "scalars", as `agent.network.inputs` returns them.

    Args:
        agent: a pretrained network, or one loaded from a file.
        path: the file, whose name must end in `.onnx`.

    Raises:
        ValueError: for another suffix, or a network in training, which has no description yet.
        OSError: if the disk is full or the folder cannot be written.

    Example:
        >>> from garden_agents import export_onnx, load, load_agent
        >>> from garden_core import make
        >>> export_onnx(load("cacti"), "cacti.onnx")
        >>> agent = load_agent("cacti.onnx", make("cacti"))
    """
    import torch

    from garden_agents.networks.tensors import forward

    if Path(path).suffix != ".onnx":
        raise ValueError(f"the name of an ONNX file must end in .onnx, not {path}")
    if not agent.config:
        raise ValueError("only a network that was loaded from a file can be exported")
    network = agent.network

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = torch.nn.Parameter(torch.from_numpy(network.parameters))

        def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return forward(network, self.weights, inputs)

    observation = np.zeros((2, *agent.config["observation"]), np.int8)
    inputs = tuple(map(torch.from_numpy, network.inputs(observation)))
    reads_observation = getattr(network, "features", 0) is None
    names = ("observation",) if reads_observation else NAMES[len(inputs)]
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # torchvision is not needed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch about itself, and that inputs share the axis N
        program = torch.onnx.export(
            Module().eval(),
            inputs,
            input_names=names,
            output_names=("logits", "value"),
            dynamic_shapes=(({0: "n"},) * len(inputs),),
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    program.model.metadata_props[KEY] = json.dumps(agent.config)
    write_atomically(Path(path), program.model_proto.SerializeToString())


class OnnxAgent:
    """A network in an ONNX file as a policy: it plays the most likely action, and can guide search.

    A file of `export_onnx` is checked like a network's own file. Any other file has one input, the observation as float32
    or int8, (N, observation size) or (N, *observation_shape); its first output is the logits, (N, num_actions), its second
    the value of the player to move from -1 to 1, (N,) or (N, 1).

    Args:
        path: the file.
        game: the game to play.
        allow_other_options: see `NetworkAgent.load`.

    Attributes:
        digest: identifies the content of the file.

    Raises:
        ValueError: if the file cannot be read, is no ONNX file, contains subgraphs or refers to other files, does not fit
            the game, or cannot evaluate several positions at once.
    """

    def __init__(self, path: Path, game: Game, allow_other_options: bool = False) -> None:
        self.path = path
        try:
            content = read_regular(path, LIMIT)
            described = _checked(content)
            self.digest = hashlib.sha256(content).hexdigest()[:16]
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 4  # errors are raised
            make = functools.partial(onnxruntime.InferenceSession, enable_fallback=0)  # which would print
            self._session = _run(make, content, options, ["CPUExecutionProvider"])
        except OSError as error:
            raise ValueError(f"{path}: {error.strerror}") from None
        except ValueError as error:
            raise ValueError(f"{path} is no ONNX file for an agent: {error}") from None
        self.value_target = "outcome"
        self._inputs: Callable[[np.ndarray], Inputs] = self._observation
        values = 1
        if described is not None:
            network = described_network(path, described, game, allow_other_options)
            self.value_target, values, self._inputs = (
                described.value_target,
                network.num_values,
                network.inputs,
            )
        self._check_outputs(game, values)

    def _check_outputs(self, game: Game, values: int) -> None:
        """Evaluate one and three positions, and raise ValueError if the results have other shapes than they should."""
        for n in (1, 3):
            try:
                outputs = self._outputs(np.zeros((n, *game.observation_shape), np.int8))
            except ValueError as error:
                reads = [put.shape for put in self._session.get_inputs()]
                raise ValueError(
                    f"{self.path} cannot evaluate {n} position{'s' * (n > 1)} of {game.name}: its input has the shape "
                    f"{short(reads)}, where (N, {game.observation_size}) with any N is needed (torch.onnx.export: "
                    f'dynamic_shapes=({{0: "n"}},)); {error}'
                ) from None
            given = [array.shape for array in outputs]
            if given != [(n, game.num_actions), (n, values)]:
                raise ValueError(
                    f"{self.path} must return logits (N, {game.num_actions}) and values (N, {values}), "
                    f"but for N = {n} the shapes are {given}"
                )

    def _observation(self, observation: np.ndarray) -> Inputs:
        wanted = self._session.get_inputs()[0]
        if wanted.type not in TYPES:
            raise ValueError(f"its input must be float32 or int8, not {wanted.type}")
        flat = len(wanted.shape) == 2
        array = observation.reshape(len(observation), -1) if flat else observation
        return (array.astype(TYPES[wanted.type]),)

    def _outputs(self, observation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inputs, wanted = self._inputs(observation), self._session.get_inputs()
        if len(wanted) != len(inputs) or len(self._session.get_outputs()) != 2:
            n = len(self._session.get_outputs())
            raise ValueError(
                f"it has {len(wanted)} inputs and {n} outputs, where {len(inputs)} and 2 are needed"
            )
        given = {put.name: array for put, array in zip(wanted, inputs, strict=True)}
        logits, values = _run(self._session.run, None, given)
        logits, values = np.asarray(logits, np.float32), np.asarray(values, np.float32)
        if not (np.isfinite(logits).all() and np.isfinite(values).all()):
            raise ValueError("its outputs are not finite")
        return logits, values.reshape(len(values), -1)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action, int64 (len(rows),), for the player to move in each of `rows`.

        Raises:
            ValueError: if the outputs are not finite; and as `Batch.asked`, which also raises IndexError and RuntimeError.
        """
        rows = batch.asked(rows)
        logits, _ = self._outputs(batch.observation[rows])
        return np.where(batch.action_mask[rows] != 0, logits, -np.inf).argmax(1)

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities and values as `NetworkAgent.evaluate` does.

        Raises:
            ValueError: if the outputs are not finite.
        """
        logits, values = self._outputs(observation)
        return probabilities(logits, mask), expected_values(values, self.value_target)

    def values(self, batch: Batch, rows: np.ndarray) -> Values:
        """Return the expected results of all seats, and raise errors, as `NetworkAgent.values` does."""
        rows = valued_rows(batch, rows)
        raw = self._outputs(batch.observation[rows])[1]
        return network_values(batch.game, batch.states[rows], raw, self.value_target)


def _run(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of ONNX Runtime; its errors become ValueErrors."""
    try:
        return function(*arguments)
    except _ERRORS as error:
        raise ValueError(one_line(error)) from None


def _checked(content: bytes) -> Description | None:
    """Return the description in an ONNX file of `export_onnx`; None for other files.

    Raises:
        ValueError: if it is no ONNX file, a part of it is in another file, or it has subgraphs.
    """
    try:
        model = onnx.load_model_from_string(content)
    except DecodeError as error:
        raise ValueError(one_line(error)) from None
    if not model.graph.node:
        raise ValueError("it has no operations")
    parts = [*_parts(model)]
    if any(isinstance(p, onnx.TensorProto) and p.data_location == onnx.TensorProto.EXTERNAL for p in parts):
        raise ValueError("its weights are in another file; export it with external_data=False")
    if sum(isinstance(part, onnx.GraphProto) for part in parts) > 1:
        raise ValueError("it contains loops or conditions (subgraphs)")
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    if KEY not in metadata:
        return None
    try:
        return msgspec.json.decode(metadata[KEY], type=Description)
    except (ValueError, RecursionError) as error:
        raise ValueError(one_line(error)) from None


def _parts(message: Message) -> Iterator[Message]:
    """Yield all messages inside a message, at any depth."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else (value,):
                yield part
                yield from _parts(part)
