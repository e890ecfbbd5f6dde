"""How the commands' help shows arguments: an optional number as INT, options of a game as names and values."""

from __future__ import annotations

import dataclasses
from types import NoneType, UnionType
from typing import Union, get_args

from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

REGISTRY = ConstructorRegistry()
"""Pass it to `tyro.cli`."""


@REGISTRY.primitive_rule
def _optional(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """Show `X | None` as X."""
    kinds = [kind for kind in get_args(info.type) if kind is not NoneType]
    if info.type_origin not in (Union, UnionType) or len(kinds) != 1:
        return None
    spec = ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(kinds[0], info.markers))
    if not isinstance(spec, PrimitiveConstructorSpec):
        return None
    return dataclasses.replace(
        spec,
        is_instance=lambda value: value is None or spec.is_instance(value),
        str_from_instance=lambda value: ["None"] if value is None else spec.str_from_instance(value),
    )


@REGISTRY.primitive_rule
def _options(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec | None:
    """Show `dict[str, str]` as names and values."""
    if info.type != dict[str, str]:
        return None

    def pairs(words: list[str]) -> dict[str, str]:
        if len(words) % 2:
            raise ValueError(f"{words[-1]!r} is a name without a value")
        return dict(zip(words[::2], words[1::2], strict=True))

    return PrimitiveConstructorSpec(
        nargs="*",
        metavar="[NAME VALUE ...]",
        instance_from_str=pairs,
        is_instance=lambda value: isinstance(value, dict),
        str_from_instance=lambda value: [word for pair in value.items() for word in pair],
    )
