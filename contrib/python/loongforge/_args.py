# SPDX-License-Identifier: Apache-2.0
"""Checks what the caller of init() gives, before C sees it."""

import operator

PLUGINS = ("gr00t",)

_INT_MAX = 2**31 - 1  # a C int, of 32 bits wherever Slurm runs
_PORT_MAX = 65535


def check(plugin, world_size, rank, master_addr, master_port):
    """Returns the five as plain values, None where nothing was said.

    Raises TypeError or ValueError with the argument's name.
    """
    plugin = _text("plugin", plugin)
    if plugin is not None and plugin not in PLUGINS:
        known = ", ".join(repr(name) for name in PLUGINS)
        raise ValueError(f"plugin {plugin!r} is not known; known: {known}")
    world_size = _integer("world_size", world_size, 1, _INT_MAX)
    rank = _integer("rank", rank, 0, _INT_MAX)
    if None not in (rank, world_size) and rank >= world_size:
        raise ValueError(f"rank is {rank}, but world_size is {world_size}")
    master_addr = _text("master_addr", master_addr)
    master_port = _integer("master_port", master_port, 1, _PORT_MAX)
    return plugin, world_size, rank, master_addr, master_port


def _integer(name, value, low, high):
    if value is None:
        return None
    # True is an int to Python, and never a rank to anybody.
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, not {_kind(value)}")
    value = operator.index(value)
    if not low <= value <= high:
        raise ValueError(f"{name} is {value}, not within {low} .. {high}")
    return value


def _text(name, value):
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {_kind(value)}")
    if not value or not value.isprintable() or " " in value:
        raise ValueError(f"{name} {value!r} is empty or holds blanks")
    return value


def _kind(value):
    return type(value).__name__
