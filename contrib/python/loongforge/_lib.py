# SPDX-License-Identifier: Apache-2.0
"""The binding to libloongforge.so.0 (loongforge.h)."""

import functools
import os

from . import _say

NAME = "libloongforge.so.0"
TEXT_MAX = 1024  # LF_TEXT_MAX


@functools.lru_cache(maxsize=None)
def load(abi):
    """Finds the library once: returns (library, "") or (None, reason).

    abi: the major version that the library must have, a str.
    """
    looked = []
    for path in _candidates():
        try:
            library = _bind(path)
        except (AttributeError, ImportError, OSError, ValueError) as err:
            looked.append(_excuse(path, err))
            continue
        return _judge(library, path, abi, looked)
    why = f"{NAME} not found: looked at {', '.join(looked)}"
    if _say.in_step():
        _say.once_a_node(why + "; training goes on without LoongForge")
    return None, "inactive: " + why


def call_init(library, plugin, world_size, rank, master_addr, master_port):
    """Calls lf_init; None is "not said".  Returns (code, line of text)."""
    import ctypes

    args = library.args_type(
        -1 if world_size is None else world_size,
        -1 if rank is None else rank,
        None if plugin is None else plugin.encode(),
        None if master_addr is None else master_addr.encode(),
        -1 if master_port is None else master_port,
    )
    text = ctypes.create_string_buffer(TEXT_MAX)
    code = library.lf_init(ctypes.byref(args), text)
    return code, text.value.decode(errors="replace")


def text(value):
    """A `const char *` result as str."""
    return (value or b"").decode(errors="replace")


def _candidates():
    chosen = os.environ.get("LOONGFORGE_LIBRARY")
    if chosen:
        yield chosen
    prefix = _prefix()
    if prefix:
        multiarch = os.path.join("lib", os.uname().machine + "-linux-gnu")
        for folder in ("lib", multiarch, "lib64"):
            yield os.path.join(prefix, folder, NAME)
    yield NAME


def _prefix():
    """PREFIX of PREFIX/share/loongforge/python/loongforge, else None."""
    package = os.path.dirname(os.path.realpath(__file__))
    tail = "/share/loongforge/python/loongforge"
    return package[: -len(tail)] or "/" if package.endswith(tail) else None


def _bind(path):
    # Here, not above: a Python built without ctypes runs plain.
    import ctypes

    if path != NAME and not os.path.isabs(path):
        raise ValueError("not an absolute path")

    class InitArgs(ctypes.Structure):  # struct lf_init_args
        _fields_ = [
            ("world_size", ctypes.c_int),
            ("rank", ctypes.c_int),
            ("plugin", ctypes.c_char_p),
            ("master_addr", ctypes.c_char_p),
            ("master_port", ctypes.c_int),
        ]

    library = ctypes.CDLL(path)
    library.args_type = InitArgs
    for name, result, arguments in (
        ("lf_init", ctypes.c_int, [ctypes.POINTER(InitArgs), ctypes.c_char_p]),
        ("lf_active", ctypes.c_int, []),
        ("lf_finalize", None, []),
        ("lf_version", ctypes.c_char_p, []),
        ("lf_state", ctypes.c_char_p, []),
    ):
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def _excuse(path, err):
    """Why path will not do; the usual case, no such file, needs no words."""
    shown = "the loader's own path" if path == NAME else path
    reason = str(err)
    if "No such file or directory" in reason:
        return shown
    if reason.startswith(path + ": "):  # as dlopen and dlsym begin
        reason = reason[len(path) + 2 :]
    return f"{shown} ({reason})"


def _judge(library, path, abi, looked):
    version = text(library.lf_version())
    if version.split(".")[0] != abi:
        why = (
            f"{path}: expected version {abi}.x of the library, "
            f"found {version or 'none'}; training goes on without LoongForge"
        )
        _say.once_a_node(why)
        return None, "inactive: " + why
    chosen = os.environ.get("LOONGFORGE_LIBRARY")
    if chosen and path != chosen and _say.in_step():
        _say.once_a_node(
            f"LOONGFORGE_LIBRARY: cannot load {looked[0]}; {path} is used"
        )
    return library, ""
