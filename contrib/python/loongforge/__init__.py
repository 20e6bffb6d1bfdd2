# SPDX-License-Identifier: Apache-2.0
"""LoongForge in a training task: says hello to the node's orchestrator.

    import loongforge as lf
    lf.init()
    torch.distributed.init_process_group("nccl")    # env:// as ever

In a step started with `srun --loongforge` this connects; anywhere else every
function here does nothing, silently, so a script may call it everywhere.
"""

import atexit
import errno
import os

from . import _args, _lib, _other, _say

__version__ = "0.1.0"
__all__ = ["Error", "active", "finalize", "init", "state", "version"]

_ABI = __version__.split(".")[0]  # the library's major version
_owner = None  # pid of the process that is connected


class Error(RuntimeError):
    """The orchestrator refused, in one line of text.

    errno: errno.EPROTO, it speaks another protocol; errno.ECOMM, a node of the step did not say
    hello and the step is being cancelled; another errno, as it says.
    """

    def __init__(self, code, text):
        super().__init__(text)
        self.errno = code


def init(plugin=None, world_size=None, rank=None, master_addr=None,
         master_port=None):
    """Connects, and waits until every node of the step has said hello.

    Leave everything out to take Slurm's values.  What is given is checked
    against them and changes nothing.

    plugin: model plugin by name: "gr00t".
    world_size: tasks in the step, at least 1.
    rank: this task, 0 .. world_size - 1.
    master_addr, master_port: of rank 0's store, a str and 1 .. 65535.

    Returns True when connected.  Returns False, and training goes on plainly,
    outside of a step with --loongforge (silent), in a process forked from a
    connected one (silent), and when the library is missing or the orchestrator
    is gone (one line on stderr).  Waits at most launch.hello_seconds, 30 s by
    default; Ctrl-C is noticed afterwards.  A second call is a no-op.

    Raises TypeError or ValueError for an argument that cannot be right or that
    differs from Slurm's value, and Error when the orchestrator refuses.
    """
    global _owner
    args = _args.check(plugin, world_size, rank, master_addr, master_port)
    library = _library()
    if library is None or _forked():
        return False
    code, text = _lib.call_init(library, *args)
    if code == -errno.ENOTCONN:
        _say.line(text or "the orchestrator is gone; training goes on")
        return False
    if code < 0:
        _refuse(-code, text or os.strerror(-code))
    if text:  # how the nodes differ; rank 0 only
        _say.line(text)
    if not library.lf_active():
        return False
    if _owner is None:
        _owner = os.getpid()
        atexit.register(finalize)
    return True


def finalize():
    """Says goodbye; at exit this happens by itself.  Never fails.

    Does nothing when not connected, and nothing in a forked child, whose
    parent holds the connection.
    """
    global _owner
    if _owner == os.getpid():
        _owner = None
        atexit.unregister(finalize)
        _library().lf_finalize()


def active():
    """True while this process is connected to an orchestrator."""
    return _owner == os.getpid() and bool(_library().lf_active())


def state():
    """Why active() is what it is, in one line (str)."""
    if _forked():
        return f"inactive: forked from process {_owner}, which is connected"
    library, why = _lib.load(_ABI)
    return why if library is None else _lib.text(library.lf_state())


def version():
    """Of the C library, or of this package without one: "MAJOR.MINOR.PATCH"."""
    library = _library()
    return __version__ if library is None else _lib.text(library.lf_version())


def _library():
    return _lib.load(_ABI)[0]


def _forked():
    return _owner not in (None, os.getpid())


def _refuse(code, text):
    if code == errno.EINVAL:
        raise ValueError(text)
    raise Error(code, text)


_other.warn()
