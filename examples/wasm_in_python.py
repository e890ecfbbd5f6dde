"""Play a game of a WebAssembly module in Python, without Numba: the package `wasmtime` runs it.

garden export cacti build/cacti
pip install wasmtime
python examples/wasm_in_python.py build/cacti cacti
"""

from __future__ import annotations

import base64
import json
import random
import sys
from pathlib import Path
from typing import Any

from wasmtime import Instance, Module, Store


class WasmGame:
    """A game with the default options.

    Args:
        folder: folder that `garden export` wrote.
        name: name of the game.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.about = json.loads((folder / f"{name}.json").read_text("utf-8"))
        self.store = Store()
        module = Module.from_file(self.store.engine, str(folder / f"{name}.wasm"))
        self.exports: Any = Instance(self.store, module, []).exports(self.store)
        self.memory, self.top = self.exports["memory"], self.exports["__heap_base"].value(self.store)
        defaults = [option["default"] for option in self.about["options"] if "values" in option]
        setting = self.about["settings"][json.dumps(defaults, separators=(",", ":"))]
        self.kind = self.about["kinds"][setting["kind"]]
        self.labels = self.about["spaces"][setting["space"]]["labels"]
        self.state = self._reserve(self.kind["state"]["size"])
        self.params = self._reserve(self.about["params"]["size"])
        params = bytearray(base64.b64decode(setting["params"]))
        for option in self.about["options"]:
            if "values" not in option:  # written into the params as it is
                start = self.about["params"]["fields"][option["name"]][0]
                params[start : start + 4] = option["default"].to_bytes(4, "little")
        self.memory.write(self.store, params, self.params)
        self.mask = self._reserve(len(self.labels))

    def _reserve(self, size: int) -> int:
        """Return the address of `size` more bytes of the module's memory."""
        start = self.top = (self.top + 15) // 16 * 16
        self.top += size
        lacking = self.top - self.memory.data_len(self.store)
        if lacking > 0:
            self.memory.grow(self.store, -(-lacking // 65536))
        return start

    def _call(self, name: str, *arguments: int) -> int:
        return self.exports[self.kind["functions"][name][0]](self.store, *arguments)

    def reset(self, seed: int) -> None:
        """Deal the game that PettingZoo's `env.reset(seed)` deals."""
        self._call("deal", self.state, self.params, self._call("game_seed", seed, 0, 0))

    def legal(self) -> list[int]:
        """Return the legal actions of the player to move; none at the end."""
        self._call("legal_actions", self.state, self.params, self.mask, len(self.labels))
        mask = self.memory.read(self.store, self.mask, self.mask + len(self.labels))
        return [action for action, legal in enumerate(mask) if legal]

    def apply(self, action: int) -> None:
        """Take a legal action."""
        self._call("apply_action", self.state, self.params, action)

    def points(self) -> list[int]:
        """Return the points of each seat."""
        seats = self.about["max_players"]
        found = self._reserve(4 * seats)
        self._call("points", self.state, self.params, found, seats)
        content = self.memory.read(self.store, found, found + 4 * seats)
        return [int.from_bytes(content[4 * p : 4 * p + 4], "little", signed=True) for p in range(seats)]


def main(folder: Path, name: str, seed: int = 0) -> list[int]:
    """Play a random game; return the points."""
    game, choices = WasmGame(folder, name), random.Random(seed)
    game.reset(seed)
    while legal := game.legal():
        game.apply(choices.choice(legal))
    return game.points()


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), sys.argv[2]))
