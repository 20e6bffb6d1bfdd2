# SPDX-License-Identifier: Apache-2.0
"""Lines for the user, and who may print them."""

import os
import sys


def in_step():
    """True in a task that the plugin prepared, that is, under --loongforge."""
    return "LOONGFORGE_SOCKET" in os.environ


def line(text):
    """Prints one line on stderr, whoever wrote the text."""
    text = " ".join(text.split())
    if not text.startswith("loongforge: "):
        text = "loongforge: " + text
    # One write, so that lines of several tasks do not mix.
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass  # stderr is closed or None: nobody is there to read it


def once_a_node(text):
    """Prints what is true of the whole node, from its first task only."""
    if _is_first_task():
        line(text)


def _is_first_task():
    # Both, since under torchrun every worker has SLURM_LOCALID=0.
    names = ("SLURM_LOCALID", "LOCAL_RANK")
    if any(os.environ.get(name, "0") != "0" for name in names):
        return False
    # A spawned data-loader worker imports the user's script once more.  Its
    # parent is not known yet by then, its name is.
    process = sys.modules.get("multiprocessing.process")
    return process is None or process.current_process().name == "MainProcess"
